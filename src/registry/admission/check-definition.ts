import { isAbsolute } from 'node:path'
import type { Issue } from '../../contract/base/json.ts'
import type { JsonSchema, SchemaChecker, SchemaKind } from '../../contract/base/schema.ts'
import type { Capabilities, Permission, SideEffect, ToolDefinition } from '../../contract/tool/tool.ts'
import { parsePointer, pointerTo } from '../../kit/json/json-pointer.ts'
import { definitionSchema } from '../state/definition-schema.ts'
import { shorten } from '../../kit/text/shorten.ts'

/** Groups of dotted names: letters, digits, `_` and `-`; two to eight segments, at most 200 characters. */
const nameGrammar = /^[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){1,7}$/
/** SemVer 2.0.0, section 2 and 9. */
const semver = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

/**
 * Which capabilities a side effect covers; what is not listed is not covered. A tool that only reads may do so with a program, which reaches no
 * more than the tool itself.
 */
const covers: { readonly [effect in SideEffect]: readonly Need[] } = {
  none: [],
  read: ['fs.read', 'proc', 'secrets'],
  write: ['fs.read', 'fs.write', 'net', 'secrets'],
  network: ['fs.read', 'net', 'proc', 'secrets'],
  filesystem: ['fs.read', 'fs.write', 'tmp', 'secrets'],
  browser: ['fs.read', 'net', 'browser', 'tmp', 'secrets'],
  process: ['fs.read', 'fs.write', 'net', 'proc', 'browser', 'tmp', 'secrets'],
}

/** What a readonly tool cannot do. */
const changing: readonly string[] = ['write', 'filesystem', 'process']

/** The side effects that cover a capability, of those that a tool of this permission can have. */
function listCovering(need: Need, permission: Permission): string {
  const names = Object.entries(covers).flatMap(([effect, needs]) => (needs.includes(need) ? [effect] : []))
  const able = permission === 'readonly' ? names.filter((effect) => !changing.includes(effect)) : names
  return (able.length > 0 ? able : names).map((effect) => `"${effect}"`).join(' or ')
}

type Need = 'fs.read' | 'fs.write' | 'net' | 'proc' | 'browser' | 'tmp' | 'secrets'

/**
 * Every issue of a definition at once: its form, name, version, schemas, and what contradicts itself. Pointers lead into the
 * definition. Where fields are missing or of another type, what they mean together is not looked at.
 */
export function checkDefinition(
  definition: ToolDefinition,
  checker: SchemaChecker,
  isImported: boolean,
): Issue[] {
  const form = checker.check(definitionSchema, definition)
  const issues = [...checkIdentity(definition), ...(form.ok ? [] : form.issues)]
  if (!form.ok) return issues
  return [
    ...issues,
    ...checkSchemas(definition, checker, isImported ? 'imported' : 'own'),
    ...checkEffects(definition, isImported),
    ...checkLimits(definition),
    ...checkIdempotency(definition),
  ]
}

function checkIdentity(definition: ToolDefinition): Issue[] {
  const issues: Issue[] = []
  if (!isCanonicalName(definition.name)) {
    issues.push({
      pointer: '/name',
      code: 'invalid_name',
      message: adviseName(shorten(String(definition.name), 80)),
    })
  }
  if (!semver.test(String(definition.version))) {
    issues.push({
      pointer: '/version',
      code: 'invalid_version',
      message: `"${shorten(String(definition.version), 80)}" is not a SemVer version such as "1.0.0".`,
    })
  }
  if (String(definition.description).trim() === '') {
    issues.push({
      pointer: '/description',
      code: 'missing',
      message: 'A model chooses tools by their description; write one.',
    })
  }
  return issues
}

function adviseName(name: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name)
    ? `"${name}" has no namespace, which rules and grants speak of. Write { namespace: "shop", name: "${name}" }, or the whole name: "shop.${name}".`
    : `"${name}" is not a canonical name: use two to eight parts of letters, digits, "_" and "-", joined by dots, such as "demo.greet".`
}

/** Whether a name follows the grammar of canonical names. */
export function isCanonicalName(name: unknown): name is string {
  return (
    typeof name === 'string' &&
    name.length <= 200 &&
    nameGrammar.test(name) &&
    !/(^|\.)(__proto__|constructor|prototype)(\.|$)/.test(name)
  )
}

function checkSchemas(definition: ToolDefinition, checker: SchemaChecker, kind: SchemaKind): Issue[] {
  const inside = (place: string, schema: unknown) =>
    checker.inspect(schema, kind).map((issue) => ({ ...issue, pointer: `/${place}${issue.pointer}` }))
  const issues = inside('inputSchema', definition.inputSchema)
  if (definition.inputSchema.type !== 'object') {
    issues.push({
      pointer: '/inputSchema/type',
      code: 'unsupported_schema',
      message:
        'The input of a tool is an object: { "type": "object", "properties": { … } }, with its fields under "properties".',
    })
  }
  if (definition.outputSchema !== undefined) issues.push(...inside('outputSchema', definition.outputSchema))
  return issues
}

/** What a server hints at is its own word, and contradicts nothing that its operator says. */
function checkEffects(definition: ToolDefinition, isImported: boolean): Issue[] {
  const { permission, sideEffect, safety, consent, capabilities, scopes } = definition
  const issues: Issue[] = []
  const inconsistent = (pointer: string, message: string) =>
    issues.push({ pointer, code: 'inconsistent_manifest', message })
  if (permission === 'readonly' && changing.includes(sideEffect)) {
    inconsistent(
      '/permission',
      `A readonly tool cannot have the side effect "${sideEffect}"; make it "write" or correct the side effect.`,
    )
  }
  if (safety === 'high' && !consent.required) {
    inconsistent(
      '/consent/required',
      'A tool of high safety class needs a consent; set consent.required to true.',
    )
  }
  if (consent.personOnly === true && (!consent.required || consent.scope !== 'once')) {
    inconsistent(
      '/consent/personOnly',
      'What only a person says yes to is asked about at each call; set consent.required to true and consent.scope to "once".',
    )
  }
  if (safety === 'low' && ['write', 'process', 'filesystem'].includes(sideEffect)) {
    inconsistent('/safety', `The side effect "${sideEffect}" needs at least "medium" safety.`)
  }
  for (const [need, pointer] of neededCapabilities(capabilities)) {
    if (!covers[sideEffect].includes(need)) {
      inconsistent(
        pointer,
        `The side effect "${sideEffect}" does not cover this capability; set "sideEffect" to ${listCovering(need, permission)}, or remove it.`,
      )
    }
  }
  for (const access of ['read', 'write'] as const) {
    for (const [index, root] of capabilities.fs[access].entries()) {
      if (!isRoot(root))
        inconsistent(
          `/capabilities/fs/${access}/${index}`,
          `"${root}" is not a root: give an absolute path, "project", "tmp", or "*" for every root that the session and the policy allow.`,
        )
    }
  }
  if (capabilities.fs.write.includes('tmp') && !capabilities.tmp) {
    inconsistent(
      '/capabilities/tmp',
      'A tool whose write roots name "tmp" needs this capability; set it to true.',
    )
  }
  if (capabilities.fs.write.length > 0 && !scopes.some((scope) => scope.action === 'write')) {
    inconsistent(
      '/scopes',
      'A tool that writes files needs a scope with the action "write", such as { resource: "project", action: "write" }.',
    )
  }
  if (!isImported && definition.annotations.readOnlyHint === true && permission === 'write') {
    inconsistent('/annotations/readOnlyHint', 'A write tool cannot carry readOnlyHint.')
  }
  return issues
}

function isRoot(root: string): boolean {
  return isAbsolute(root) || root === 'project' || root === 'tmp' || root === '*'
}

function neededCapabilities(capabilities: Capabilities): [Need, string][] {
  const needed: [Need, string][] = []
  const add = (wanted: boolean, need: Need) => {
    if (wanted) needed.push([need, `/capabilities/${need.replace('.', '/')}`])
  }
  add(capabilities.fs.read.length > 0, 'fs.read')
  add(capabilities.fs.write.length > 0, 'fs.write')
  add(capabilities.net.hosts.length > 0, 'net')
  add(capabilities.proc.executables.length > 0, 'proc')
  add(capabilities.browser, 'browser')
  add(capabilities.tmp, 'tmp')
  add(capabilities.secrets.length > 0, 'secrets')
  return needed
}

function checkLimits(definition: ToolDefinition): Issue[] {
  return Object.entries(definition.limits)
    .filter(([, limit]) => !Number.isSafeInteger(limit) || limit < 1)
    .map(([name, limit]) => ({
      pointer: pointerTo('/limits', name),
      code: 'invalid_limit',
      message: `${String(limit)} is not a limit; use a whole number from 1 on.`,
    }))
}

function checkIdempotency({ idempotency, keyFrom, inputSchema }: ToolDefinition): Issue[] {
  if (idempotency !== 'keyed') {
    if (keyFrom === undefined) return []
    return [
      { pointer: '/keyFrom', code: 'inconsistent_manifest', message: 'keyFrom needs idempotency "keyed".' },
    ]
  }
  if (keyFrom === undefined) {
    return [
      {
        pointer: '/keyFrom',
        code: 'inconsistent_manifest',
        message:
          'A keyed tool must say where its key comes from: "call", or the pointer of a required input field such as "/order_id".',
      },
    ]
  }
  if (keyFrom === 'call' || leadsToKey(keyFrom, inputSchema)) return []
  return [
    {
      pointer: '/keyFrom',
      code: 'inconsistent_manifest',
      message: `"${keyFrom}" is neither "call" nor the pointer of a required input field that is a text or a number.`,
    },
  ]
}

/** Whether every input has a text or a number there. */
function leadsToKey(pointer: string, inputSchema: JsonSchema): boolean {
  let schema: JsonSchema | undefined = inputSchema
  for (const token of parsePointer(pointer)) {
    if (schema?.required?.includes(token) !== true) return false
    schema = schema.properties?.[token]
  }
  const types = [schema?.type ?? []].flat()
  return pointer.startsWith('/') && schema?.nullable !== true && types.every((type) => keyTypes.has(type))
}

const keyTypes: ReadonlySet<string> = new Set(['string', 'integer', 'number'])
