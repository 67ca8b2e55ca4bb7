import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  stripComments,
  type Node,
  type ParseError,
} from 'jsonc-parser'
import { SetupError } from '../../contract/base/errors.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { textOf } from '../../compose/agents/read-fields.ts'
import { insertAt, removeAt } from '../../config/files/edit-json.ts'
import type { HookAgent } from './base/agent.ts'

/** The text of a settings file with the hook in it; comments, order and layout of the rest stay. Throws a SetupError if it cannot be put there. */
export function withHook(
  before: string | undefined,
  agent: HookAgent,
  about: { path: string; command: string },
): string {
  const text = before === undefined || before.trim() === '' ? '{}\n' : before
  const { base = {} } = agent.settings
  const wanted = agent.settings.entries(about.command)
  if (isThere(eventsOf(text, about.path), wanted, agent)) return text
  let after = withoutHook(text, agent, about)
  for (const [field, value] of Object.entries(base))
    if (read(after, about.path).value[field] === undefined) after = insertAt(after, [field], value)
  for (const [event, entry] of Object.entries(wanted))
    after = append(after, event, { entry, path: about.path })
  return after
}

/** The same without the hook. What is empty then goes with it. */
export function withoutHook(text: string, agent: HookAgent, { path }: { path: string }): string {
  let after = text
  for (const event of Object.keys(agent.settings.entries(''))) {
    const list = eventsOf(after, path)[event] ?? []
    for (let index = list.length - 1; index >= 0; index--)
      for (const place of ownPlaces(list[index], agent).toReversed())
        after = removeAt(after, ['hooks', event, index, ...place])
    if (list.length > 0 && eventsOf(after, path)[event]?.length === 0)
      after = removeAt(after, ['hooks', event])
  }
  const { hooks } = read(after, path).value
  const isEmpty = after !== text && isPlainObject(hooks) && Object.keys(hooks).length === 0
  return isEmpty ? removeAt(after, ['hooks']) : after
}

/** Whether a file has nothing but what the hook needs beside itself. */
export function saysNothing(text: string, { settings: { base = {} } }: HookAgent, path: string): boolean {
  const { value, hasComments } = read(text, path)
  return (
    !hasComments &&
    Object.entries(value).every(([field, each]) => Object.hasOwn(base, field) && base[field] === each)
  )
}

function isThere(
  events: { readonly [event: string]: readonly Json[] },
  wanted: { readonly [event: string]: JsonObject },
  agent: HookAgent,
): boolean {
  return Object.entries(wanted).every(([event, entry]) => {
    const own = (events[event] ?? []).filter((each) => ownPlaces(each, agent).length > 0)
    return own.length === 1 && JSON.stringify(own[0]) === JSON.stringify(entry)
  })
}

/** The places of the hook in one entry: the entry itself, or some of the hooks that it groups. */
function ownPlaces(entry: Json | undefined, agent: HookAgent): (readonly ['hooks', number] | readonly [])[] {
  if (!isPlainObject(entry)) return []
  const grouped = entry['hooks']
  if (!Array.isArray(grouped)) return isOwn(entry, agent) ? [[]] : []
  const own = grouped.flatMap((each, index) => (isOwn(each, agent) ? [['hooks', index] as const] : []))
  return own.length === grouped.length && own.length > 0 ? [[]] : own
}

function isOwn(hook: Json | undefined, { name }: HookAgent): boolean {
  if (!isPlainObject(hook)) return false
  const command = textOf(hook as JsonObject, 'command', 'bash') ?? ''
  return new RegExp(`(^|[\\s/\\\\"'])handrail(\\.[cm]js)?["']?\\s+hook\\s+${name}(\\s|$)`).test(command)
}

function append(text: string, event: string, { entry, path }: { entry: JsonObject; path: string }): string {
  const list = eventsOf(text, path)[event]
  return list === undefined
    ? insertAt(text, ['hooks', event], [entry])
    : insertAt(text, ['hooks', event, list.length], entry)
}

function eventsOf(text: string, path: string): { readonly [event: string]: readonly Json[] } {
  const { hooks = {} } = read(text, path).value
  if (!isPlainObject(hooks)) throw unusable(path, '"hooks" is not an object')
  for (const [event, list] of Object.entries(hooks))
    if (!Array.isArray(list)) throw unusable(path, `"hooks.${event}" is not a list`)
  return hooks as { readonly [event: string]: readonly Json[] }
}

function read(text: string, path: string): { value: JsonObject; hasComments: boolean } {
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error !== undefined)
    throw unusable(
      path,
      `it is not JSON: ${printParseErrorCode(error.error)} in line ${lineOf(text, error.offset)}`,
    )
  if (tree?.type !== 'object') throw unusable(path, 'it is not a JSON object')
  refuseDoubles(tree, path)
  const events = findNodeAtLocation(tree, ['hooks'])
  if (events?.type === 'object') refuseDoubles(events, path)
  return { value: getNodeValue(tree) as JsonObject, hasComments: stripComments(text) !== text }
}

/** The agent would obey the last of them, and it would be the first that is changed. */
function refuseDoubles({ children = [] }: Node, path: string): void {
  const names = children.map(({ children: [name] = [] }) => String(name?.value))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw unusable(path, `"${twice}" stands there twice`)
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

function unusable(path: string, why: string): SetupError {
  return new SetupError(
    'invalid_configuration',
    `"${path}" cannot be changed: ${why}. Mend it first. Nothing was changed.`,
  )
}
