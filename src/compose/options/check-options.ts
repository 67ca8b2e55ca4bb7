import {
  checkFile,
  configurationForm,
  hookForm,
  policyForm,
  projectForm,
  type Form,
} from '../../config/check-file.ts'
import { configurationSchema } from '../../config/file-schemas.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { Tool, ToolSource } from '../../contract/tool/tool.ts'
import { resolveSandbox } from './resolve-sandbox.ts'
import { checkAgentOptions } from './agent-options.ts'
import { checkMemory } from './check-memory.ts'
import { checkTelemetry } from './check-telemetry.ts'
import { isObject } from '../../kit/json/is-object.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { findUnknownValue } from '../../kit/json/find-unknown-value.ts'
import { findNoFunctions, findNoLists } from '../../kit/json/find-wrong-kinds.ts'
import { runtimeOptionFields, type RuntimeOptions } from './runtime-options.ts'

/** What a program hands in in another form than a file. */
const ownForms: ReadonlySet<string> = new Set(['agents', 'hooks', 'memory', 'undo'])

/** Every issue in the form of the options; what they name outside of the program is not looked at. */
export function checkOptions(options: RuntimeOptions, checker: SchemaChecker): Issue[] {
  const shared = Object.entries(options).filter(
    ([field, value]) =>
      !ownForms.has(field) &&
      !(field === 'sandbox' && typeof value === 'function') &&
      Object.hasOwn(configurationSchema.properties ?? {}, field),
  )
  const check = <File>(place: string, form: Form<File>, value: unknown) =>
    checkFile(value, form, checker).issues.map((issue) => ({ ...issue, pointer: place + issue.pointer }))
  return [
    ...findUnknownFields(options, runtimeOptionFields),
    ...check('', configurationForm, Object.fromEntries(shared)),
    ...checkUndo(options.undo, (undo) => check('', configurationForm, { undo })),
    ...checkHold(options.sandbox),
    ...(options.policy === undefined ? [] : check('/policy', policyForm, options.policy)),
    ...(options.projectConfiguration === undefined
      ? []
      : check('/projectConfiguration', projectForm, options.projectConfiguration)),
    ...(options.hooks ?? []).flatMap((hook, index) => checkHook(hook, index, checker)),
    ...checkTools(options.tools ?? []),
    ...checkFeeds(options.feeds ?? []),
    ...checkTelemetry(options),
    ...checkAgentOptions(options.agents),
    ...checkMemory(options.memory),
    ...checkArchive(options.archive),
    ...findUnknownValue('/duplicates', options.duplicates, ['error', 'keep-first', 'replace']),
  ]
}

/** Only bubblewrap holds changes back. What has to be held back must not be in force unasked. */
function checkHold(chosen: RuntimeOptions['sandbox']): Issue[] {
  if (typeof chosen !== 'object' || chosen === null || chosen.hold !== 'always') return []
  const { kind } = resolveSandbox(chosen)
  if (kind === 'bubblewrap') return []
  const message = `In the sandbox "${kind}", no command can be held back. Choose "bubblewrap", or leave out "hold".`
  return [{ pointer: '/sandbox/hold', code: 'wrong_value', message }]
}

/** Where it is kept is said by a program only. */
function checkUndo(given: RuntimeOptions['undo'], check: (undo: unknown) => Issue[]): Issue[] {
  if (given === undefined) return []
  if (typeof given !== 'object' || given === null) return check(given)
  const { dir, ...undo } = given
  if (dir === undefined || (typeof dir === 'string' && dir !== '')) return check(undo)
  const message = 'Give the path of a folder.'
  return [...check(undo), { pointer: '/undo/dir', code: 'wrong_type', message }]
}

function checkArchive(given: RuntimeOptions['archive']): Issue[] {
  if (given === undefined) return []
  if (!isObject(given))
    return [{ pointer: '/archive', code: 'wrong_type', message: 'Give { dir } with the path of a folder.' }]
  const { dir, logBytes } = given
  const isCount = logBytes === undefined || (Number.isSafeInteger(logBytes) && Number(logBytes) > 0)
  return [
    ...findUnknownFields(given, ['dir', 'logBytes']).map((issue) => ({
      ...issue,
      pointer: `/archive${issue.pointer}`,
    })),
    ...(typeof dir === 'string' && dir !== ''
      ? []
      : [{ pointer: '/archive/dir', code: 'wrong_type', message: 'Give the path of a folder.' }]),
    ...(isCount
      ? []
      : [{ pointer: '/archive/logBytes', code: 'wrong_value', message: 'Give a whole number above zero.' }]),
  ]
}

/** Throws a SetupError for options that are not the kind of thing that they have to be: of the others nothing can be said then. */
export function refuseWrongKinds(options: RuntimeOptions): void {
  const kinds = [
    ...findNoFunctions(options, ['approve', 'elicit', 'onEvent', 'onError', 'lookup', 'now']),
    ...findNoLists(options, ['tools', 'feeds', 'hooks', 'decisionPoints', 'observers']),
    ...checkStore(options.store),
  ]
  if (kinds.length === 0) return
  const issues = [...findUnknownFields(options, runtimeOptionFields), ...kinds]
  throw new SetupError('invalid_options', 'These options cannot be used:', issues)
}

function checkStore(store: unknown): Issue[] {
  if (store === undefined || store === 'memory') return []
  if (typeof store === 'object' && store !== null) {
    if ('append' in store && typeof store.append === 'function') return []
    if ('path' in store && typeof store.path === 'string') return []
  }
  const message = 'Give "memory", { path } with the path of a SQLite file, or a store of your own.'
  return [{ pointer: '/store', code: 'wrong_type', message }]
}

type GivenHook = NonNullable<RuntimeOptions['hooks']>[number]

function checkHook(hook: GivenHook, index: number, checker: SchemaChecker): Issue[] {
  const pointer = `/hooks/${index}`
  if (typeof hook === 'object' && hook !== null) {
    if ('command' in hook)
      return checkFile(hook, hookForm, checker).issues.map((issue) => ({
        ...issue,
        pointer: pointer + issue.pointer,
      }))
    if ('before' in hook && typeof hook.before === 'function') return []
    if ('after' in hook && typeof hook.after === 'function') return []
  }
  return [
    {
      pointer,
      code: 'invalid_hook',
      message: 'A hook has a function "before", a function "after", or a "command".',
    },
  ]
}

/** An issue for each that is neither a tool nor a source. */
export function checkTools(tools: readonly (Tool | ToolSource)[]): Issue[] {
  return tools.flatMap((given, index) =>
    isToolSource(given) || isTool(given)
      ? []
      : [
          {
            pointer: `/tools/${index}`,
            code: 'invalid_tool',
            message: 'This is neither a tool nor a source of tools. Make a tool with defineTool.',
          },
        ],
  )
}

/** An issue for each that is not a feed of tools. */
function checkFeeds(feeds: readonly unknown[]): Issue[] {
  const isFeed = (given: unknown): boolean =>
    typeof given === 'object' && given !== null && 'open' in given && typeof given.open === 'function'
  return feeds.flatMap((given, index) =>
    isFeed(given)
      ? []
      : [
          {
            pointer: `/feeds/${index}`,
            code: 'invalid_feed',
            message: 'This brings no tools. Make it with mcpTools.',
          },
        ],
  )
}

/** Whether this has what a source needs. */
export function isToolSource(given: unknown): given is ToolSource {
  return typeof given === 'object' && given !== null && 'list' in given && typeof given.list === 'function'
}

/** Whether this has what a tool needs; its definition is checked at registration. */
export function isTool(given: unknown): given is Tool {
  if (typeof given !== 'object' || given === null || !('run' in given) || !('definition' in given))
    return false
  return typeof given.run === 'function' && typeof given.definition === 'object' && given.definition !== null
}
