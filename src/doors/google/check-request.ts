import type { Issue } from '../../contract/base/json.ts'
import { checkTools, queryOf, type RequestTool } from '../base/check-request.ts'
import { fieldsOf, listOf } from '../base/message-fields.ts'
import type { RuleQuery } from '../rules/find-rules.ts'

/** What the Gemini API would refuse of a request; its tools stand at the top, or in `config` as the SDK has it. */
export function checkGoogleRequest(request: object, given: RuleQuery): readonly Issue[] {
  const query = queryOf(request, given)
  const { tools, config } = fieldsOf(request)
  const inConfig = tools === undefined
  const at = inConfig ? '/config/tools' : '/tools'
  const found = listOf(inConfig ? fieldsOf(config)['tools'] : tools).flatMap((tool, index) => {
    const { functionDeclarations: camel, function_declarations: snake } = fieldsOf(tool)
    const name = camel === undefined ? 'function_declarations' : 'functionDeclarations'
    return listOf(camel ?? snake).map((each, place) => toTool(each, `${at}/${index}/${name}/${place}`))
  })
  return checkTools(found, at, query)
}

function toTool(given: unknown, at: string): RequestTool {
  const { name, description, parameters, ...fields } = fieldsOf(given)
  const inJson =
    fields['parametersJsonSchema'] === undefined ? 'parameters_json_schema' : 'parametersJsonSchema'
  const isOpenApi = parameters !== undefined
  return {
    at,
    name,
    description,
    schema: parameters ?? fields[inJson],
    schemaAt: `${at}/${isOpenApi ? 'parameters' : inJson}`,
    field: isOpenApi ? 'parameters' : 'parametersJsonSchema',
  }
}
