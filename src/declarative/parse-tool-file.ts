import type { Issue } from '../contract/base/json.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { parseWrittenJson } from '../kit/json/parse-written-json.ts'
import { checkToolFile } from './check-tool-file.ts'
import { toolFileSchema } from './tool-file-schema.ts'
import type { ToolFile } from './tool-file.ts'

/** The tool that a text of JSON declares, with every default filled in, or every issue of it. */
export function parseToolFile(
  text: string,
  checker: SchemaChecker,
): { file: ToolFile } | { issues: readonly Issue[] } {
  const parsed = parseWrittenJson(text)
  if ('issues' in parsed) return parsed
  const { value } = parsed
  const checked = checkForm(value, checker)
  if ('issues' in checked)
    return { issues: [...checked.issues.map(inWords), ...checkRest(value, checked.issues, checker)] }
  const issues = checkToolFile(checked.file, checker)
  return issues.length > 0 ? { issues } : checked
}

/** What stands in for a field that is not there or of the wrong form. */
const stubs = { name: 'a.tool', description: 'A tool.', command: 'true' }
/** Fields that cannot be judged where another one is wrong. */
const hangsOn: ReadonlyMap<string, readonly string[]> = new Map([
  ['input_schema', ['args']],
  ['command_type', ['command', 'args', 'permission']],
  ['tags', ['permission']],
  ['output', ['output_schema']],
])

/** What is wrong with the fields whose form is right, where that of others is not. */
function checkRest(value: unknown, known: readonly Issue[], checker: SchemaChecker): Issue[] {
  if (!isPlainObject(value)) return []
  const wrong = new Set(known.map(fieldIn))
  const right = Object.entries(value).filter(([field]) => !wrong.has(field))
  const checked = checkForm({ ...stubs, ...Object.fromEntries(right) }, checker)
  if ('issues' in checked) return []
  const unclear = new Set([...wrong].flatMap((field) => [field, ...(hangsOn.get(field) ?? [])]))
  return checkToolFile(checked.file, checker).filter((found) => !unclear.has(fieldIn(found)))
}

function checkForm(
  value: unknown,
  checker: SchemaChecker,
): { file: ToolFile } | { issues: readonly Issue[] } {
  const checked = checker.check(toolFileSchema, value)
  if (!checked.ok) return checked
  const file: unknown = checked.value
  // The schema of the file has just been held against the value.
  return { file: file as ToolFile }
}

function fieldIn({ pointer }: Issue): string {
  return pointer.split('/')[1] ?? ''
}

/** Patterns say nothing to people. */
const forms: { readonly [pointer: string]: string } = {
  '/name':
    'It is not a canonical name: use two to eight parts of letters, digits, "_" and "-", joined by dots, such as "git.log".',
  '/version': 'It is not a SemVer version such as "1.0.0".',
  '/env_allowlist': 'It is not a name of an environment variable.',
  '/secrets': 'It is not a name of an environment variable.',
  '/hosts': 'It is not a name of a host in lower case, without scheme, port and path.',
}

function inWords(found: Issue): Issue {
  const form = forms[found.pointer.replace(/\/\d+$/, '')]
  return form !== undefined && /\bpattern\b/.test(found.message) ? { ...found, message: form } : found
}
