import { SetupError } from '../contract/errors.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import type { Fault } from '../contract/json.ts'
import { modes, roles } from '../contract/principal.ts'
import type { Session, SessionOptions } from '../contract/runtime.ts'
import { createRestrictions } from '../policy/create-restrictions.ts'
import { findExclusion } from '../policy/effective-set.ts'
import type { ViewLease } from '../registry/create-stock.ts'
import { faceTool } from '../registry/face-tools.ts'
import { createSession } from '../runtime/create-session.ts'
import { checkRestriction, checkToolLists } from './check-tool-lists.ts'
import { findUnknownFields } from './find-unknown-fields.ts'
import { localTenant, type Grounds } from './lay-grounds.ts'

const fields: readonly (keyof SessionOptions)[] = [
  'role',
  'mode',
  'tenant',
  'actor',
  'agent',
  'allowedTools',
  'disallowedTools',
  'approve',
  'signal',
]

/** Ids of tenants and actors. */
const idGrammar = /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$/

interface SessionSurroundings {
  listener(event: RuntimeEvent): void
  watched(): boolean
  onClosed(session: Session): void
  /** The tools of a tenant now, kept alive until they are released. */
  lease(tenant: string): ViewLease
}

/** Opens a session with every default filled in. Throws a SetupError with every fault of the options. */
export function openSession(grounds: Grounds, given: SessionOptions, around: SessionSurroundings): Session {
  const faults = [...findUnknownFields(given, fields), ...checkSessionOptions(given)]
  if (faults.length > 0) throw new SetupError('invalid_options', 'The session cannot be opened:', faults)
  const tenant = given.tenant ?? localTenant
  const { ground, options } = grounds.of(tenant)
  const mode = given.mode ?? ground.policy.defaultMode
  if (mode === 'bypass' && !ground.policy.allowBypass) throw bypassRefusal()
  const role = given.role ?? 'main'
  const restrictions = createRestrictions()
  const session: Session = createSession({
    ground: () => ground.latest(),
    lease: () => around.lease(tenant),
    principal: {
      tenant,
      actor: given.actor ?? 'user',
      role,
      ...(given.agent !== undefined && { agent: given.agent }),
    },
    mode,
    approver: given.approve ?? options.approve,
    signal: given.signal,
    exclusion: (registered, now) =>
      findExclusion(registered, {
        role,
        mode,
        configured: now.toolLists,
        allowed: given.allowedTools,
        disallowed: [...now.disallowedTools, ...(given.disallowedTools ?? [])],
        restrictions,
      }),
    restrictions,
    restrict(restriction) {
      checkRestriction(restriction)
      return restrictions.add(restriction)
    },
    face: faceTool,
    listener: (event) => around.listener(event),
    watched: () => around.watched(),
    onClosed: () => around.onClosed(session),
  })
  return session
}

function bypassRefusal(): SetupError {
  return new SetupError('invalid_options', 'The session cannot be opened:', [
    {
      pointer: '/mode',
      code: 'mode_denied',
      message: 'The mode "bypass" must be allowed by the policy: set "allowBypass": true there.',
    },
  ])
}

function checkSessionOptions(given: SessionOptions): Fault[] {
  const faults: Fault[] = []
  const oneOf = (field: 'role' | 'mode', known: readonly string[]) => {
    const value = given[field]
    if (value !== undefined && !known.includes(value))
      faults.push({
        pointer: `/${field}`,
        code: 'unknown_value',
        message: `"${String(value)}" is none of ${known.join(', ')}.`,
      })
  }
  oneOf('role', roles)
  oneOf('mode', modes)
  faults.push(...checkToolLists(given))
  for (const field of ['tenant', 'actor'] as const) {
    const value = given[field]
    if (value !== undefined && !idGrammar.test(String(value))) {
      faults.push({
        pointer: `/${field}`,
        code: 'invalid_id',
        message: `"${String(value).slice(0, 80)}" is no id: use letters, digits, "_", ".", "@" and "-", at most 128.`,
      })
    }
  }
  return faults
}
