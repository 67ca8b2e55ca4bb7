import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { Permission, ToolContext } from '../../contract/tool/tool.ts'
import type { ManifestSpec } from '../../define/to-definition.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'

/** What a manifest says of a tool beside its name, for a tool of another SDK. */
export type AdoptedManifest = Partial<Omit<ManifestSpec, 'name' | 'namespace'>>

/** How tools of another SDK become tools of Handrail. */
export interface AdoptOptions<Name extends string = string> {
  /** What comes before their names: `shop` makes `refund` into `shop.refund`. */
  namespace: string
  /** What they may do, all of them or by name. Default `write`, which asks: a tool must be said to be harmless. */
  permission?: Permission | { readonly [Tool in Name]?: Permission }
  /** What else their manifests say, by name, such as `{ refund: { idempotency: 'optional' } }`. */
  tools?: { readonly [Tool in Name]?: AdoptedManifest }
  /**
   * What the SDK would hand to a tool as its context, made for each call. The AI SDK calls it `context`; it is merged into the context of
   * Mastra, and into the config of LangChain.
   */
  context?: (call: ToolContext, tool: string) => unknown
}

/** The manifest of one adopted tool: what the SDK knows of it, and above that what the program says. */
export function manifestOf(name: string, known: AdoptedManifest, options: AdoptOptions): ManifestSpec {
  const { namespace, permission, tools } = options
  const own = ownField(tools, name) ?? {}
  const allowed = typeof permission === 'object' ? ownField(permission, name) : permission
  return {
    description: '',
    ...known,
    ...(allowed !== undefined && { permission: allowed }),
    ...own,
    namespace,
    name,
  }
}

/** Undefined for names that every object has, such as `toString`. */
function ownField<Value>(
  given: { readonly [name: string]: Value } | undefined,
  name: string,
): Value | undefined {
  return given !== undefined && Object.hasOwn(given, name) ? given[name] : undefined
}

/** Throws a `SetupError` for options that mean no tool, or nothing. */
export function checkAdoptOptions(names: readonly string[], options: AdoptOptions): void {
  const issues = isPlainObject(options) ? findIssues(names, options) : [noNamespace]
  if (issues.length > 0) throw new SetupError('invalid_options', 'The tools cannot be taken over:', issues)
}

const noNamespace: Issue = {
  pointer: '/namespace',
  code: 'missing_field',
  message: 'Give the namespace of the tools, such as { namespace: "shop" }.',
}

function findIssues(names: readonly string[], options: AdoptOptions): Issue[] {
  const { namespace, permission = 'write', tools = {}, context } = options
  const known = ['namespace', 'permission', 'tools', 'context']
  const issues = findUnknownFields(options, known)
  if (typeof namespace !== 'string' || namespace === '') issues.push(noNamespace)
  if (typeof permission === 'object')
    issues.push(...findStrangers(permission, { field: 'permission', names }))
  else issues.push(...checkPermission(permission, '/permission'))
  for (const [name, each] of Object.entries(typeof permission === 'object' ? permission : {}))
    issues.push(...checkPermission(each, pointerTo('/permission', name)))
  issues.push(...findStrangers(tools, { field: 'tools', names }))
  if (context !== undefined && typeof context !== 'function')
    issues.push({ pointer: '/context', code: 'wrong_type', message: 'Give a function that returns it.' })
  return issues
}

function findStrangers(
  given: object,
  { field, names }: { field: string; names: readonly string[] },
): Issue[] {
  return findUnknownFields(given, names).map(({ pointer, ...issue }) => ({
    ...issue,
    pointer: `/${field}${pointer}`,
    message: issue.message.replace('There is no field', 'There is no tool'),
  }))
}

function checkPermission(permission: unknown, pointer: string): Issue[] {
  if (permission === 'readonly' || permission === 'write') return []
  return [{ pointer, code: 'not_allowed', message: 'Give "readonly" or "write".' }]
}
