import type { CallError } from '../../../contract/base/errors.ts'
import type { Registered, ToolStatus } from '../../../contract/registry.ts'
import type { CompatibleAlias, CompatiblePresentation } from '../../../contract/tool/tool.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { copyJson } from '../../../kit/json/copy-json.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { withoutStop } from '../../../kit/text/without-stop.ts'
import { nearestNames } from '../../../kit/text/nearest-names.ts'
import { advance } from '../../state/advance.ts'
import { halt, type Called, type Found, type Halted } from '../../state/call-state.ts'
import type { CallScope } from '../../state/scope.ts'
import { MalformedCall } from './take-input.ts'
import { describeIssues, toDecodeError } from './to-decode-error.ts'
import { findPause } from '../../permission/find-pause.ts'
import { treatmentOf } from '../../record/treatments.ts'
import { shorten } from '../../../kit/text/shorten.ts'

/** Step 1: the tool, in the effective set of this session; and the input in its canonical form. */
export function find(called: Called, scope: CallScope): Found | Halted {
  const { call } = called
  if (typeof call.tool !== 'string' || call.tool === '') {
    return halt(
      'find',
      called,
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
        message: 'The call names no tool. Give its name as "tool", a non-empty string.',
      }),
    )
  }
  const registered = scope.session.find(call.tool, call.presentation)
  if (registered === undefined) return halt('find', called, unknownTool(call, scope))
  const exclusion = scope.session.exclusion(registered, call.model)
  if (exclusion !== undefined)
    return halt(
      'find',
      called,
      excludedTool(registered, { exclusion, status: scope.session.status(registered) }, scope),
    )

  const paused = findPause(registered, called.partOf, scope)
  if (paused !== undefined) return halt('find', { ...called, registered }, paused)

  if (call.input instanceof MalformedCall) return halt('find', { ...called, registered }, call.input.error)
  const asked = parseInput(call.input)
  if (asked === notJson) {
    return halt(
      'find',
      { ...called, registered },
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
        message: `The input of "${registered.definition.name}" is not valid JSON. Send one JSON object.`,
      }),
    )
  }
  const compatible =
    call.presentation === 'compatible' ? presentationNamed(call.tool, registered.tool.compatible) : undefined
  if (compatible === undefined) return advance.find(called, { registered, asked })

  const shaped = scope.tenant.checker.check(compatible.inputSchema, asked)
  if (!shaped.ok) {
    return halt(
      'find',
      { ...called, registered },
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
        message: describeIssues(compatible.name, shaped.issues),
        issues: shaped.issues,
      }),
    )
  }
  if (!isPlainObject(shaped.value)) return advance.find(called, { registered, asked: shaped.value })
  try {
    const mapped: unknown = compatible.toCanonical(shaped.value)
    return advance.find(called, { registered, asked: isPlainObject(mapped) ? copyJson(mapped) : mapped })
  } catch (error) {
    return halt(
      'find',
      { ...called, registered },
      toDecodeError(compatible.name, error, treatmentOf(registered, scope)),
    )
  }
}

/** The presentation, or one of its aliases, that a caller means by this name. */
function presentationNamed(
  name: string,
  presentation: CompatiblePresentation | undefined,
): CompatibleAlias | undefined {
  return presentation?.name === name
    ? presentation
    : presentation?.aliases?.find((alias) => alias.name === name)
}

const notJson = Symbol('not JSON')

/** Models send arguments as JSON text; programs send objects. Nothing at all means no arguments. */
function parseInput(input: unknown): unknown {
  if (input === undefined || input === '') return {}
  if (typeof input !== 'string') return input
  try {
    return JSON.parse(input)
  } catch {
    return notJson
  }
}

function unknownTool({ tool: name, model }: Pick<Called['call'], 'tool' | 'model'>, scope: CallScope) {
  const nearest = nearestNames(name, scope.session.names(model))
  const shown = shorten(name, 100)
  const advice =
    nearest.length > 0
      ? ` Did you mean ${nearest.map((near) => `"${near}"`).join(', ')}?`
      : ' List the tools to see what there is.'
  return callError('POLICY.DENY_TOOL', 'tool_not_available', {
    message: `There is no tool "${shown}" here.${advice}`,
    data: { because: 'unknown', nearest },
  })
}

/** A tool that is there and may not be called. */
export function excludedTool(
  { definition, tool }: Registered,
  { exclusion, status }: Excluded,
  { session }: CallScope,
): CallError {
  const why: { readonly [reason: string]: string } = {
    role_denied: `the role "${session.principal.role}" may never use it`,
    model_denied: 'it works with other providers or models than the one of this call',
    mode_denied: `the session is in ${session.mode} mode, which is read-only`,
    paused: 'it is paused',
    deprecated: `it is deprecated and was taken out of use. ${withoutStop(status.advice ?? '')}`,
    definition_pending: `its definition changed at its source${describeChanged(status)} and waits for the approval of the operator`,
    tool_not_available:
      status.state === 'registered'
        ? 'it is not enabled yet'
        : (tool.unavailable ?? 'it is not in the set of tools of this session'),
  }
  return callError('POLICY.DENY_TOOL', exclusion, {
    message: `"${definition.name}" cannot be used: ${why[exclusion] ?? exclusion}. Go on without it.`,
    data: {
      because: exclusion,
      ...(status.changed.length > 0 && { changed: [...status.changed] }),
    },
  })
}

/** What lies inside of a field, such as a digest, tells a reader nothing. */
function describeChanged({ changed }: ToolStatus): string {
  const fields = changed.filter((field) => !field.includes('.'))
  return fields.length === 0 ? '' : ` (${fields.join(', ')})`
}

interface Excluded {
  exclusion: string
  status: ToolStatus
}
