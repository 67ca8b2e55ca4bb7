import type { Fault } from '../contract/json.ts'
import type { SchemaChecker } from '../contract/schema.ts'
import type { Capabilities, SideEffect, ToolDefinition } from '../contract/tool.ts'
import { pointerTo } from '../kit/json-pointer.ts'
import { definitionSchema } from './definition-schema.ts'

/** Groups of dotted names: letters, digits, `_` and `-`; two to eight segments, at most 200 characters. */
const nameGrammar = /^[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){1,7}$/
/** SemVer 2.0.0, section 2 and 9. */
const semver = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

/** Which capabilities a side effect covers; what is not listed is not covered. */
const covers: { readonly [effect in SideEffect]: readonly Need[] } = {
  none: [],
  read: ['fs.read', 'secrets'],
  write: ['fs.read', 'fs.write', 'net', 'secrets'],
  network: ['fs.read', 'net', 'secrets'],
  filesystem: ['fs.read', 'fs.write', 'tmp', 'secrets'],
  browser: ['fs.read', 'net', 'browser', 'tmp', 'secrets'],
  process: ['fs.read', 'fs.write', 'net', 'proc', 'browser', 'tmp', 'secrets'],
}

type Need = 'fs.read' | 'fs.write' | 'net' | 'proc' | 'browser' | 'tmp' | 'secrets'

/**
 * Every fault of a definition at once: its form, name, version, schemas, and what contradicts itself. Pointers lead into the
 * definition. Where fields are missing or of another type, what they mean together is not looked at.
 */
export function checkDefinition(
  definition: ToolDefinition,
  checker: SchemaChecker,
  origin: 'native' | 'mcp' | 'declarative',
): Fault[] {
  const form = checker.check(definitionSchema, definition)
  const faults = [...checkIdentity(definition), ...(form.ok ? [] : form.faults)]
  if (!form.ok) return faults
  return [
    ...faults,
    ...checkSchemas(definition, checker, origin === 'mcp' ? 'imported' : 'native'),
    ...checkEffects(definition, origin),
    ...checkLimits(definition),
    ...checkIdempotency(definition),
  ]
}

function checkIdentity(definition: ToolDefinition): Fault[] {
  const faults: Fault[] = []
  if (!isCanonicalName(definition.name)) {
    faults.push({
      pointer: '/name',
      code: 'invalid_name',
      message: `"${shorten(String(definition.name))}" is no canonical name: use two to eight parts of letters, digits, "_" and "-", joined by dots, such as "demo.greet".`,
    })
  }
  if (!semver.test(String(definition.version))) {
    faults.push({
      pointer: '/version',
      code: 'invalid_version',
      message: `"${shorten(String(definition.version))}" is no SemVer version such as "1.0.0".`,
    })
  }
  if (String(definition.description).trim() === '') {
    faults.push({
      pointer: '/description',
      code: 'missing',
      message: 'A model chooses tools by their description; write one.',
    })
  }
  return faults
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

function checkSchemas(
  definition: ToolDefinition,
  checker: SchemaChecker,
  kind: 'native' | 'imported',
): Fault[] {
  const inside = (place: string, schema: unknown) =>
    checker.inspect(schema, kind).map((fault) => ({ ...fault, pointer: `/${place}${fault.pointer}` }))
  const faults = inside('inputSchema', definition.inputSchema)
  if (definition.inputSchema.type !== 'object') {
    faults.push({
      pointer: '/inputSchema/type',
      code: 'unsupported_schema',
      message: 'The input of a tool is an object; set "type": "object".',
    })
  }
  if (definition.outputSchema !== undefined) faults.push(...inside('outputSchema', definition.outputSchema))
  return faults
}

/**
 * A declarative tool is a program, whatever it does: a readonly one too. What a server hints at is its own word, and contradicts nothing
 * that its operator says.
 */
function checkEffects(definition: ToolDefinition, origin: 'native' | 'mcp' | 'declarative'): Fault[] {
  const { permission, sideEffect, safety, consent, capabilities, scopes } = definition
  const faults: Fault[] = []
  const inconsistent = (pointer: string, message: string) =>
    faults.push({ pointer, code: 'inconsistent_manifest', message })
  if (permission === 'readonly' && ['write', 'filesystem', 'process'].includes(sideEffect)) {
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
  if (safety === 'low' && ['write', 'process', 'filesystem'].includes(sideEffect)) {
    inconsistent('/safety', `The side effect "${sideEffect}" needs at least "medium" safety.`)
  }
  for (const [need, pointer] of neededCapabilities(capabilities)) {
    const isCovered = covers[sideEffect].includes(need) || (origin === 'declarative' && need === 'proc')
    if (!isCovered) {
      inconsistent(
        pointer,
        `The side effect "${sideEffect}" does not cover this capability; declare the side effect that it has, or remove it.`,
      )
    }
  }
  if (capabilities.fs.write.length > 0 && !scopes.some((scope) => scope.action === 'write')) {
    inconsistent('/scopes', 'A tool that writes files needs a scope with the action "write".')
  }
  if (origin !== 'mcp' && definition.annotations.readOnlyHint === true && permission === 'write') {
    inconsistent('/annotations/readOnlyHint', 'A write tool cannot carry readOnlyHint.')
  }
  return faults
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

function checkLimits(definition: ToolDefinition): Fault[] {
  return Object.entries(definition.limits)
    .filter(([, limit]) => !Number.isSafeInteger(limit) || limit < 1)
    .map(([name, limit]) => ({
      pointer: pointerTo('/limits', name),
      code: 'invalid_limit',
      message: `${String(limit)} is no limit; use a whole number from 1 on.`,
    }))
}

function checkIdempotency({ idempotency, keyFrom, inputSchema }: ToolDefinition): Fault[] {
  if (idempotency === 'none') {
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
  const field = keyFrom.slice(1)
  if (keyFrom === 'call' || (keyFrom.startsWith('/') && (inputSchema.required ?? []).includes(field)))
    return []
  return [
    {
      pointer: '/keyFrom',
      code: 'inconsistent_manifest',
      message: `"${keyFrom}" is neither "call" nor the pointer of a required input field.`,
    },
  ]
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
