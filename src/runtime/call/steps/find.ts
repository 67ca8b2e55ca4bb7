import type { CallError } from '../../../contract/base/errors.ts'
import type { Registered, ToolStanding } from '../../../contract/registry.ts'
import type { FamiliarAlias, FamiliarFace } from '../../../contract/base/tool.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { copyJson } from '../../../kit/json/copy-json.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { withoutStop } from '../../../kit/text/without-stop.ts'
import { nearestNames } from '../../../kit/text/nearest-names.ts'
import { advance, stop, type Called, type Found, type Stopped } from '../../state/passage.ts'
import type { Road } from '../../state/ground.ts'
import { MalformedCall } from './take-input.ts'
import { describeFaults, toDecodeError } from './to-decode-error.ts'
import { treatmentOf } from '../../record/treatments.ts'

/** Step 1: the tool, in the effective set of this session; and the input in its canonical form. */
export function find(called: Called, road: Road): Found | Stopped {
  const { call } = called
  if (typeof call.tool !== 'string' || call.tool === '') {
    return stop(
      'find',
      called,
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
        message: 'The call names no tool. Give its name as "tool", a non-empty string.',
      }),
    )
  }
  const registered = road.session.find(call.tool, call.face)
  if (registered === undefined) return stop('find', called, unknownTool(call.tool, road))
  const exclusion = road.session.exclusion(registered)
  if (exclusion !== undefined)
    return stop(
      'find',
      called,
      excludedTool(registered, { exclusion, standing: road.session.standing(registered) }, road),
    )

  if (call.input instanceof MalformedCall) return stop('find', { ...called, registered }, call.input.error)
  const asked = parseInput(call.input)
  if (asked === notJson) {
    return stop(
      'find',
      { ...called, registered },
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
        message: `The input of "${registered.definition.name}" is not valid JSON. Send one JSON object.`,
      }),
    )
  }
  const familiar = call.face === 'familiar' ? faceNamed(call.tool, registered.tool.familiar) : undefined
  if (familiar === undefined) return advance(called, 'find', { registered, asked })

  const shaped = road.ground.checker.check(familiar.inputSchema, asked)
  if (!shaped.ok) {
    return stop(
      'find',
      { ...called, registered },
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
        message: describeFaults(familiar.name, shaped.faults),
        faults: shaped.faults,
      }),
    )
  }
  if (!isPlainObject(shaped.value)) return advance(called, 'find', { registered, asked: shaped.value })
  try {
    return advance(called, 'find', { registered, asked: copyJson(familiar.toCanonical(shaped.value)) })
  } catch (error) {
    return stop(
      'find',
      { ...called, registered },
      toDecodeError(familiar.name, error, treatmentOf(registered, road)),
    )
  }
}

/** The face, or one of its aliases, that a caller means by this name. */
function faceNamed(name: string, face: FamiliarFace | undefined): FamiliarAlias | undefined {
  return face?.name === name ? face : face?.aliases?.find((alias) => alias.name === name)
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

function unknownTool(name: string, road: Road) {
  const nearest = nearestNames(name, road.session.names())
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name
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
  { exclusion, standing }: Excluded,
  { session }: Road,
): CallError {
  const why: { readonly [reason: string]: string } = {
    role_denied: `the role "${session.principal.role}" may never use it`,
    model_denied: 'it works with other providers or models than that of this session',
    mode_denied: `the session is in ${session.mode} mode, which is read-only`,
    paused: 'it is paused',
    deprecated: `it is deprecated and was taken out of use. ${withoutStop(standing.advice ?? '')}`,
    definition_held: `its definition changed at its source${describeChanged(standing)} and waits for the approval of the operator`,
    tool_not_available:
      standing.state === 'registered'
        ? 'it is not enabled yet'
        : (tool.unavailable ?? 'it is not in the set of tools of this session'),
  }
  return callError('POLICY.DENY_TOOL', exclusion, {
    message: `"${definition.name}" cannot be used: ${why[exclusion] ?? exclusion}. Go on without it.`,
    data: {
      because: exclusion,
      ...(standing.changed.length > 0 && { changed: [...standing.changed] }),
    },
  })
}

/** What lies inside of a field, such as a digest, tells a reader nothing. */
function describeChanged({ changed }: ToolStanding): string {
  const fields = changed.filter((field) => !field.includes('.'))
  return fields.length === 0 ? '' : ` (${fields.join(', ')})`
}

interface Excluded {
  exclusion: string
  standing: ToolStanding
}
