import type { Issue } from '../contract/base/json.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { fieldOf, findTextFlaw, joinsTemplate } from './arguments.ts'
import type { ToolFile } from './tool-file.ts'

/** Every issue of the arguments of a file: a value is an argument of its own, of a field that always has one that fits. */
export function checkArguments(file: ToolFile): Issue[] {
  return file.args.flatMap((argument, index) => checkArgument(argument, pointerTo('/args', index), file))
}

const issue = (pointer: string, code: string, message: string): Issue => ({ pointer, code, message })

function checkArgument(argument: ToolFile['args'][number], pointer: string, file: ToolFile): Issue[] {
  if (typeof argument === 'string') {
    const field = fieldOf(argument)
    return field === undefined ? checkLiteral(argument, pointer, file) : checkField(field, pointer, { file })
  }
  if (file.command_type === 'shell')
    return [
      issue(pointer, 'invalid_argument', 'Arguments of a script have no options. Write each by itself.'),
    ]
  const [option, value] = argument
  const field = fieldOf(value)
  return [
    ...checkLiteral(option, pointerTo(pointer, 0), file),
    ...(/^-./.test(option) && option !== '--'
      ? []
      : [
          issue(
            pointerTo(pointer, 0),
            'invalid_argument',
            `"${option}" is not an option; one begins with "-".`,
          ),
        ]),
    ...(field === undefined
      ? [
          issue(
            pointerTo(pointer, 1),
            'invalid_argument',
            'This is not a template such as "{{field}}". Write a fixed value as two arguments.',
          ),
        ]
      : checkField(field, pointerTo(pointer, 1), { file, isOptional: true })),
  ]
}

function checkLiteral(text: string, pointer: string, file: ToolFile): Issue[] {
  const flaw = findTextFlaw(text)
  if (flaw !== undefined) return [issue(pointer, 'invalid_text', `It has ${flaw}. Leave it out.`)]
  if (fieldOf(text) !== undefined || joinsTemplate(text))
    return [
      issue(
        pointer,
        'joined_template',
        `"${text}" joins a value with other text. A value is an argument of its own: write "{{field}}" alone, or ["--option", "{{field}}"].`,
      ),
    ]
  const single = /\{([A-Za-z_][A-Za-z0-9_-]*)\}/.exec(text)?.[1]
  if (single === undefined || propertyOf(file, single) === undefined) return []
  return [issue(pointer, 'joined_template', `"{${single}}" is not a template. Write "{{${single}}}", alone.`)]
}

function checkField(
  field: string,
  pointer: string,
  { file, isOptional = false }: { file: ToolFile; isOptional?: boolean },
): Issue[] {
  const { required } = file.input_schema
  const schema = propertyOf(file, field)
  if (schema === undefined)
    return [
      issue(
        pointer,
        'unknown_field',
        `The input schema has no field "${field}". Declare it, or correct the name.`,
      ),
    ]
  const issues: Issue[] = []
  if (!isScalar(schema))
    issues.push(
      issue(
        pointer,
        'wrong_type',
        `"${field}" is not a text, number or boolean by its schema; only these fit an argument. The whole input is on stdin.`,
      ),
    )
  if (!isOptional && !(Array.isArray(required) && required.includes(field)) && schema.default === undefined)
    issues.push(
      issue(
        pointer,
        'missing',
        `"${field}" may be left out. Make it required, give it a default, or write ["--option", "{{${field}}}"].`,
      ),
    )
  return issues
}

/** A field of the input. The schema may have issues, which are told elsewhere. */
function propertyOf({ input_schema: { properties } }: ToolFile, field: string): JsonSchema | undefined {
  if (!isPlainObject(properties) || !Object.hasOwn(properties, field)) return undefined
  return isPlainObject(properties[field]) ? properties[field] : {}
}

const scalars: readonly unknown[] = ['string', 'number', 'integer', 'boolean']

function isScalar({ type, nullable }: JsonSchema): boolean {
  const types = typeof type === 'string' ? [type] : (type ?? [])
  return types.length > 0 && nullable !== true && types.every((each) => scalars.includes(each))
}
