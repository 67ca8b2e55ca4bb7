import { isAbsolute, resolve, sep } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Operation, Plan, Preview } from '../../contract/tool/plan.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { isObject } from '../../kit/json/is-object.ts'

/**
 * What was judged and shown is what the call stands on, whatever the tool does to its own; what is for its run is its own matter. Each operation
 * names what it reaches as rules name it, however the tool spells it. Throws a ToolFailure for what is not a plan: no rule could judge it.
 */
export function toOwnPlan(given: Plan, tool: string): Plan {
  const own: Plan = { ...given }
  if (Array.isArray(given?.operations)) own.operations = copyJson(given.operations)
  if (isObject(given?.preview)) own.preview = { ...given.preview }
  const fault = isObject(given) ? findFault(own) : '"plan" returned no object'
  if (fault === undefined) return { ...own, operations: own.operations.map(toRuled) }
  throw new ToolFailure({
    code: 'TOOL.FAILED',
    reason: 'invalid_plan',
    message: `"${tool}" did not say in a way that can be judged what the call would do, so it did not run: ${fault}.`,
  })
}

/** One name for each thing: without `.`, `..`, `//` and a `/` at the end, and hosts in small letters. */
function toRuled(operation: Operation): Operation {
  switch (operation.kind) {
    case 'fs.read':
    case 'fs.write':
      return isSpelt(operation.path) ? operation : { ...operation, path: resolve(operation.path) }
    case 'net':
      return { ...operation, host: operation.host.toLowerCase() }
    default:
      return operation
  }
}

/** Whether nothing of a path needs another spelling; most do not. */
function isSpelt(path: string): boolean {
  return !path.includes(`${sep}.`) && !path.includes(`${sep}${sep}`) && !path.endsWith(sep)
}

/** The fields of something whose types nothing has looked at. */
type Fields<Of> = { readonly [Field in keyof Of]?: unknown }

/** What is wrong with a plan. A tool in JavaScript is not held to its types. */
function findFault({ operations, preview, scope, held }: Fields<Plan>): string | undefined {
  if (!Array.isArray(operations)) return '"operations" is not a list'
  const at = operations.findIndex((operation) => !isOperation(operation))
  if (at !== -1)
    return `operation ${at} is none of { kind: 'fs.read' | 'fs.write', path } with an absolute path, { kind: 'process', executable, argv, cwd }, { kind: 'net', host, url } and { kind: 'other', resource }`
  if (preview !== undefined && !isPreview(preview))
    return `"preview" is not { kind: ${previewKinds.map((kind) => `'${kind}'`).join(' | ')}, title, body }`
  if (scope !== undefined && typeof scope !== 'string') return '"scope" is not a text'
  return held === undefined || isObject(held) ? undefined : '"held" is not an object'
}

function isOperation(given: unknown): boolean {
  if (!isObject(given)) return false
  const { kind, path, executable, argv, cwd, host, url, resource } = given
  switch (kind) {
    case 'fs.read':
    case 'fs.write':
      return typeof path === 'string' && isAbsolute(path)
    case 'process':
      return areTexts([executable, cwd]) && Array.isArray(argv) && areTexts(argv)
    case 'net':
      return areTexts([host, url])
    case 'other':
      return typeof resource === 'string'
    default:
      return false
  }
}

function isPreview(given: unknown): boolean {
  if (!isObject(given)) return false
  const { kind, title, body, asOfNow }: Fields<Preview> = given
  return (
    previewKinds.some((each) => each === kind) &&
    areTexts([title, body]) &&
    (asOfNow === undefined || typeof asOfNow === 'string')
  )
}

const previewKinds: readonly Preview['kind'][] = ['diff', 'argv', 'host', 'text']

function areTexts(given: readonly unknown[]): boolean {
  return given.every((each) => typeof each === 'string')
}
