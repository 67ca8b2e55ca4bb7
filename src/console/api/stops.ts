import { describeUnknown } from '../../compose/stops/describe-unknown.ts'
import type { AbortScope, Pause, StopScope } from '../../contract/base/stop.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import { answerProblem } from '../base/answers.ts'
import { endpoint, type Asked, type Endpoint, type Question } from '../base/endpoint.ts'
import { refusingSetup } from '../base/refusing-setup.ts'
import { mayDo, sees, tenantsOf, type Visitor } from '../base/roles.ts'
import { abortedRow, pauseRow, runningRow, scopeFields } from './pause-row.ts'

const everything = {
  all: {
    type: 'boolean',
    const: true,
    description: 'Everything that you see. Needed if no field says what.',
  },
} as const

const list = endpoint({
  method: 'GET',
  path: '/api/pauses',
  summary: 'What is paused, by whom and why.',
  role: 'viewer',
  reach: 'each',
  answer: {
    type: 'object',
    properties: { pauses: { type: 'array', items: pauseRow } },
    required: ['pauses'],
  },
  run: ({ visitor, parts }) => ({ pauses: seenPauses(visitor, parts.runtime.stops.pauses()) }),
})

/** The pauses that a person sees: those of their tenants, and what is paused in all. */
export function seenPauses(visitor: Visitor, all: readonly Pause[]): Pause[] {
  return all.filter(({ tenant }) => tenant === undefined || sees(visitor, tenant))
}

const pause = endpoint({
  method: 'POST',
  path: '/api/pauses',
  summary:
    'The emergency stop: lets no such call run until it is resumed, in any process on the store, from the next call on.',
  role: 'operator',
  reach: ofScope,
  body: {
    type: 'object',
    properties: {
      ...scopeFields,
      ...everything,
      why: { type: 'string', maxLength: 1_000, description: 'Told to who calls, and kept.' },
      abort: { type: 'boolean', description: 'Aborts what runs, too.' },
    },
    additionalProperties: false,
  },
  answer: {
    type: 'object',
    properties: {
      pause: pauseRow,
      aborted: abortedRow,
      unknown: { type: 'string', description: 'That no tool or server has this name now, and what is near.' },
    },
    required: ['pause'],
  },
  run(asked) {
    const scope = readScope(asked)
    if (scope instanceof Response) return scope
    const { stops } = asked.parts.runtime
    const by = asked.visitor.actor
    const why = textOf(asked, 'why')
    return refusingSetup(async () => {
      const made = await stops.pause({ ...scope, by, ...(why !== undefined && { why }) })
      const unknown = findUnknown(scope, asked)
      const done = { pause: made, ...(unknown !== undefined && { unknown }) }
      if (asked.body['abort'] !== true) return done
      const aborted = await stops.abort({ ...scope, by, ...(why !== undefined && { reason: why }) })
      return { ...done, aborted: toAborted(aborted) }
    }, 400)
  },
})

/** What a person is told of names that there are not: none of servers, or of tenants, that they do not see is near. */
function findUnknown(scope: StopScope, { visitor, parts: { runtime, servers } }: Asked): string | undefined {
  const { servers: usable, faulty } = servers.describe()
  const { server: _, ...rest } = scope
  return describeUnknown(sees(visitor, everyTenant) ? scope : rest, {
    registry: runtime.registry,
    servers: [...usable, ...faulty].map(({ server }) => server),
    tenants: tenantsOf(visitor, ['local', ...runtime.store.tenants()]),
  })
}

const resume = endpoint({
  method: 'POST',
  path: '/api/pauses/{pause}/resume',
  summary: 'Lets calls run again that were paused.',
  role: 'operator',
  reach(question) {
    const found = findPause(question)
    return found instanceof Response ? found : [found.tenant ?? everyTenant]
  },
  body: { type: 'object', properties: {}, additionalProperties: false },
  answer: { type: 'object', properties: { pause: pauseRow }, required: ['pause'] },
  async run(asked) {
    const found = findPause(asked)
    if (found instanceof Response) return found
    await asked.parts.runtime.stops.resume(found.id, asked.visitor.actor)
    return { pause: found }
  },
})

function findPause({ visitor, path, parts }: Question): Pause | Response {
  const found = seenPauses(visitor, parts.runtime.stops.pauses()).find(({ id }) => id === path['pause'])
  return found ?? answerProblem({ status: 404, detail: 'There is no such pause. It may have been resumed.' })
}

const running = endpoint({
  method: 'GET',
  path: '/api/running',
  summary: 'The calls that run now, in every process on the store.',
  role: 'viewer',
  reach: 'each',
  answer: {
    type: 'object',
    properties: { calls: { type: 'array', items: runningRow } },
    required: ['calls'],
  },
  run: ({ visitor, parts }) => ({
    calls: parts.runtime.stops
      .running()
      .filter(({ tenant }) => sees(visitor, tenant))
      .map(({ writer: _writer, ...row }) => row),
  }),
})

const abort = endpoint({
  method: 'POST',
  path: '/api/abort',
  summary: 'Aborts calls that run, in whatever process; without a call, tool or server, agents and jobs too.',
  role: 'operator',
  reach: ofScope,
  body: {
    type: 'object',
    properties: {
      call: { type: 'string', minLength: 1 },
      session: { type: 'string', minLength: 1, description: 'With those that it opened.' },
      ...scopeFields,
      ...everything,
      reason: { type: 'string', maxLength: 1_000, description: 'Told to the model, and kept.' },
    },
    additionalProperties: false,
  },
  answer: { type: 'object', properties: { aborted: abortedRow }, required: ['aborted'] },
  run(asked) {
    const scope = readScope(asked)
    if (scope instanceof Response) return scope
    const reason = textOf(asked, 'reason')
    return refusingSetup(async () => {
      const request = { ...scope, by: asked.visitor.actor, ...(reason !== undefined && { reason }) }
      return { aborted: toAborted(await asked.parts.runtime.stops.abort(request)) }
    }, 400)
  },
})

const names = ['call', 'session', 'tools', 'server', 'tenant', 'actor'] as const

/** The tenant that a change names. Without one it means all, or the only one in which the visitor may make it. */
function ofScope({ visitor, body }: Question): readonly string[] | Response {
  const { tenant } = body
  if (typeof tenant === 'string') return [tenant]
  if (mayDo(visitor, 'operator', everyTenant)) return [everyTenant]
  const own = tenantsOf(visitor, [], 'operator')
  if (own.length < 2) return own.length === 0 ? [everyTenant] : own
  return answerProblem({ status: 400, detail: `Name a tenant: ${own.join(', ')}.` })
}

/** What a change means, in the tenant that it reaches. */
function readScope(asked: Asked): AbortScope | Response {
  const scope: AbortScope = {}
  for (const name of names) {
    const text = textOf(asked, name)
    if (text !== undefined) scope[name] = text
  }
  if (Object.keys(scope).length === 0 && asked.body['all'] !== true)
    return answerProblem({
      status: 400,
      detail: 'Say what is meant: name tools, a server, a tenant, an actor, or "all": true.',
    })
  const [tenant = everyTenant] = asked.tenants
  return tenant === everyTenant ? scope : { ...scope, tenant }
}

function textOf({ body }: Asked, name: string): string | undefined {
  const value = body[name]
  return typeof value === 'string' ? value : undefined
}

function toAborted({
  calls,
  running: left,
}: {
  readonly calls: readonly string[]
  readonly running: readonly string[]
}) {
  return { calls: [...calls], running: [...left] }
}

export const stopEndpoints: readonly Endpoint[] = [list, pause, resume, running, abort]
