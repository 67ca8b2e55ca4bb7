import type { SchemaChecker } from '../../contract/base/schema.ts'
import { listIssues } from '../../kit/json/list-issues.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { answerProblem } from './answers.ts'
import type { Endpoint } from './endpoint.ts'

const usualCharacters = 65_536

/** The body of a change, as its schema has it; or what is wrong with it. */
export async function readChange(
  request: Request,
  { body: schema = {}, mostCharacters = usualCharacters }: Pick<Endpoint, 'body' | 'mostCharacters'>,
  checker: SchemaChecker,
): Promise<{ readonly [name: string]: unknown } | Response> {
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    return answerProblem({ status: 415, detail: 'Send the body as application/json.' })
  const text = await request.text()
  if (text.length > mostCharacters)
    return answerProblem({ status: 413, detail: `A body has at most ${mostCharacters} characters.` })
  const body = parse(text)
  if (!isPlainObject(body)) return answerProblem({ status: 400, detail: 'The body is a JSON object.' })
  const checked = checker.check(schema, body)
  if (!checked.ok)
    return answerProblem({ status: 400, detail: listIssues(checked.issues, '/'), issues: checked.issues })
  return body
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
