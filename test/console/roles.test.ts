import { expect, test } from 'vitest'
import { askApi, caller, type Answer } from '../support/console.ts'
import { modelSaying } from '../support/mock-model.ts'
import { rounds } from '../support/rounds.ts'
import { enterAs, rule, startTeamConsole } from '../support/team-console.ts'

const roles = ['viewer', 'approver', 'operator', 'admin'] as const
type Role = (typeof roles)[number]

/** What there is of a tenant. */
interface Things {
  readonly tenant: string
  readonly approval: { readonly id: string; readonly digest: string }
  readonly call: string
  readonly run: string
  readonly consent: string
  readonly visit: string
  readonly pause: string
}

interface Operation {
  readonly role: Role
  /** Asks of a tenant; absent for what has no place to name one: it shows what its visitor sees, and nothing else. */
  readonly of?: (things: Things) => readonly [path: string, body?: object]
  /** Else: where. */
  readonly path?: string
  /** Of all tenants: where, and with what. Whoever has a role in some of them only is refused. */
  readonly ofAll?: readonly [path: string, body?: object]
}

/** Each operation of the API, who may do it, and how it is asked of a tenant. One that is not here fails the first test. */
const operations: { readonly [operation: string]: Operation } = {
  'GET /api/me': { role: 'viewer', path: '/me' },
  'GET /api/approvals': { role: 'viewer', path: '/approvals?state=all' },
  'GET /api/approvals/{id}': { role: 'viewer', of: ({ approval }) => [`/approvals/${approval.id}`] },
  'POST /api/approvals/{id}': {
    role: 'approver',
    of: ({ approval: { id, digest } }) => [`/approvals/${id}`, { decision: 'deny', digest }],
  },
  'GET /api/calls': { role: 'viewer', path: '/calls' },
  'GET /api/calls/{call}': { role: 'viewer', of: ({ call }) => [`/calls/${call}`] },
  'GET /api/runs': { role: 'viewer', path: '/runs' },
  'GET /api/runs/{run}': { role: 'viewer', of: ({ run }) => [`/runs/${run}`] },
  'POST /api/runs/{run}/unredacted': { role: 'operator', of: ({ run }) => [`/runs/${run}/unredacted`, {}] },
  'POST /api/runs/{run}/replay': { role: 'viewer', of: ({ run }) => [`/runs/${run}/replay`, {}] },
  'GET /api/runs/{run}/compare/{other}': {
    role: 'viewer',
    of: ({ run }) => [`/runs/${run}/compare/${run}`],
  },
  'GET /api/sessions': { role: 'viewer', path: '/sessions' },
  'GET /api/tools': { role: 'viewer', of: ({ tenant }) => [`/tools?tenant=${tenant}`] },
  'GET /api/tools/{tool}': { role: 'viewer', of: ({ tenant }) => [`/tools/code.read_file?tenant=${tenant}`] },
  'POST /api/tools/{tool}/state': {
    role: 'operator',
    of: ({ tenant }) => [`/tools/code.read_file/state?tenant=${tenant}`, { state: 'paused' }],
  },
  'POST /api/tools/{tool}/approve': {
    role: 'operator',
    of: ({ tenant }) => [`/tools/code.read_file/approve?tenant=${tenant}`, { digest: 'none' }],
  },
  'POST /api/tools/{tool}/preflight': {
    role: 'operator',
    of: ({ tenant }) => [`/tools/code.read_file/preflight?tenant=${tenant}`, { input: {} }],
  },
  'POST /api/tools/{tool}/call': {
    role: 'operator',
    of: ({ tenant }) => [`/tools/code.read_file/call?tenant=${tenant}`, { input: {} }],
  },
  'GET /api/servers': { role: 'viewer', path: '/servers' },
  'GET /api/evidence': { role: 'viewer', path: '/evidence' },
  'GET /api/records': { role: 'viewer', of: ({ tenant }) => [`/records?tenant=${tenant}`] },
  'GET /api/notes': { role: 'viewer', path: '/notes' },
  'POST /api/evidence/verify': { role: 'viewer', of: ({ tenant }) => ['/evidence/verify', { tenant }] },
  'GET /api/evidence/progress': { role: 'viewer', path: '/evidence/progress' },
  'GET /api/evidence/prune': { role: 'viewer', path: '/evidence/prune' },
  'GET /api/evidence/export': {
    role: 'operator',
    of: ({ tenant }) => [`/evidence/export?tenant=${tenant}`],
  },
  'GET /api/health': { role: 'viewer', path: '/health' },
  'GET /api/overview': { role: 'viewer', path: '/overview' },
  'GET /api/consents': { role: 'viewer', path: '/consents' },
  'POST /api/consents/{id}/revoke': {
    role: 'operator',
    of: ({ consent }) => [`/consents/${consent}/revoke`, {}],
  },
  'GET /api/budgets': { role: 'viewer', of: ({ tenant }) => [`/budgets?tenant=${tenant}`] },
  'GET /api/access': { role: 'viewer', path: '/access' },
  'GET /api/approvals/{id}/rule': {
    role: 'viewer',
    of: ({ approval }) => [`/approvals/${approval.id}/rule`],
  },
  'POST /api/approvals/{id}/rule': {
    role: 'operator',
    of: ({ approval: { id, digest } }) => [`/approvals/${id}/rule`, { digest, policy: 'another' }],
  },
  'GET /api/policy': { role: 'viewer', path: '/policy' },
  'GET /api/policy/suggestions': {
    role: 'viewer',
    of: ({ tenant }) => [`/policy/suggestions?tenant=${tenant}`],
  },
  'GET /api/policy/versions': { role: 'viewer', ofAll: ['/policy/versions'] },
  'GET /api/policy/versions/{version}': { role: 'viewer', ofAll: ['/policy/versions/1'] },
  'POST /api/policy/foresight': { role: 'operator', ofAll: ['/policy/foresight', { text: '{}' }] },
  'POST /api/policy/check': { role: 'operator', ofAll: ['/policy/check', { text: '{}' }] },
  'POST /api/policy/draft': {
    role: 'operator',
    ofAll: ['/policy/draft', { text: '{}', tenant: 'acme', rule: { effect: 'deny', tools: ['shop.*'] } }],
  },
  'POST /api/policy': { role: 'operator', ofAll: ['/policy', { text: '{}', digest: 'another' }] },
  'POST /api/servers/try': { role: 'operator', ofAll: ['/servers/try', { text: '{}' }] },
  'POST /api/servers/plan': {
    role: 'operator',
    ofAll: ['/servers/plan', { changes: { x: { remove: true } } }],
  },
  'POST /api/servers/write': {
    role: 'operator',
    ofAll: ['/servers/write', { changes: { x: { remove: true } }, digest: 'another' }],
  },
  'POST /api/servers/{server}/login': {
    role: 'operator',
    of: ({ tenant }) => [`/servers/x/login?tenant=${tenant}`, {}],
  },
  'GET /api/servers/{server}/entry': { role: 'operator', ofAll: ['/servers/x/entry'] },
  'GET /api/clients': { role: 'operator', ofAll: ['/clients'] },
  'GET /api/registry': { role: 'operator', ofAll: ['/registry?search=x'] },
  'GET /api/pauses': { role: 'viewer', path: '/pauses' },
  'POST /api/pauses': { role: 'operator', of: ({ tenant }) => ['/pauses', { tenant, tools: 'no.such' }] },
  'POST /api/pauses/{pause}/resume': { role: 'operator', of: ({ pause }) => [`/pauses/${pause}/resume`, {}] },
  'GET /api/running': { role: 'viewer', path: '/running' },
  'POST /api/abort': { role: 'operator', of: ({ tenant }) => ['/abort', { tenant, call: 'none' }] },
  'POST /api/visits/{visit}/end': { role: 'admin', of: ({ visit }) => [`/visits/${visit}/end`, {}] },
}

/** People with one role in `acme` each, one with every role somewhere, and those whose visits may be ended. */
const accounts = {
  ...Object.fromEntries(roles.map((role) => [role, { groups: [role] }])),
  crossed: { groups: ['admin', 'blue-viewer'] },
  nobody: { groups: ['blue-admin'] },
  guest: { groups: ['viewer'] },
  'blue-guest': { groups: ['blue-viewer'] },
}
const rules = [
  ...roles.map((role) => rule(role, role, 'acme')),
  rule('blue-viewer', 'viewer', 'blue'),
  rule('blue-admin', 'admin', 'blue'),
]
const policy = { tenants: { acme: {}, blue: {} } }
const gateway = {
  tokens: [
    caller('acme-calls', { tenant: 'acme' }),
    caller('acme-decides', { tenant: 'acme', approver: true }),
    caller('blue-calls', { tenant: 'blue' }),
  ],
}

type Console = Awaited<ReturnType<typeof startTeamConsole>>

async function make({ shop, ask, origin }: Console, tenant: string, guest: string): Promise<Things> {
  const { runtime } = shop
  const actor = `${tenant}-person`
  const { approval } = await ask('1', { tenant, actor })
  await runtime.session({ tenant, actor }).call('shop.look', { order: '1' })
  const [call] = [...runtime.store.records({ tenant, kind: 'end' })].map(
    ({ text }) => (JSON.parse(text) as { call: string }).call,
  )
  const { model } = modelSaying([{ text: 'Done.' }])
  const run = await runtime.run({ model, prompt: `of ${tenant}`, session: { tenant, actor } })
  await run.result
  const consent = await runtime.consents.give({ tool: 'shop.refund', tenant, givenBy: actor })
  const pause = await runtime.stops.pause({ tenant, tools: 'no.such', by: actor })
  await enterAs(origin, guest)
  const { body } = await (await enterAs(origin, tenant === 'blue' ? 'nobody' : 'admin')).api('/access')
  const visits = body.visits as { visit: string; actor: string }[]
  const visit = visits.find((each) => each.actor.endsWith(`#${guest}`))?.visit ?? ''
  return { tenant, approval, call: call ?? '', run: run.id, consent: consent.id, visit, pause: pause.id }
}

/** Somebody else ended it before. */
const isOver = ({ status, body }: Answer): boolean =>
  status === 404 && /resumed|is over/.test(JSON.stringify(body))

const rankOf = (role: Role): number => roles.indexOf(role)

/** Those with this role or the one below it, and who has every role somewhere; everybody in `npm run test:long`. */
function peopleAround<T extends { readonly name: string }>(role: Role, people: readonly T[]): readonly T[] {
  const near = rounds({ usual: 1, long: roles.length })
  const needed = rankOf(role)
  return people.filter(({ name }) => {
    const rank = roles.findIndex((each) => each === name)
    return rank < 0 || (rank >= needed - near && rank < needed + near)
  })
}

const describe = ({ status, body }: Answer): string => `${status} ${JSON.stringify(body)}`

test('each operation of the API is done by who has its role in its tenant, and by nobody else, whatever they are elsewhere', async () => {
  const console = await startTeamConsole({
    rules,
    accounts,
    own: { 'policy.json': policy, 'gateway.json': gateway },
  })
  const { origin } = console
  const { body: api } = await askApi(origin, '/openapi.json')
  const described = Object.entries(
    api.paths as { [path: string]: { [method: string]: { 'x-role': string } } },
  )
  const known = described.flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, about]) => [`${method.toUpperCase()} ${path}`, about['x-role']] as const,
    ),
  )
  const decided = Object.entries(operations).map(([operation, { role }]) => [operation, role])
  expect(Object.fromEntries(known)).toEqual(Object.fromEntries(decided))

  const acme = await make(console, 'acme', 'guest')
  const blue = await make(console, 'blue', 'blue-guest')
  const people = await Promise.all(
    [...roles, 'crossed'].map(async (name) => ({ name, ...(await enterAs(origin, name)) })),
  )
  for (const [operation, { role, of, ofAll, path = '' }] of Object.entries(operations)) {
    for (const person of ofAll === undefined ? peopleAround(role, people) : []) {
      const send = async (things: Things): Promise<Answer> => {
        const [to, body] = of === undefined ? [path] : of(things)
        return body === undefined ? person.api(to) : person.change(to, body)
      }
      const isCrossed = person.name === 'crossed'
      const rank = isCrossed ? roles.length : roles.findIndex((each) => each === person.name)
      const about = `${person.name}: ${operation}`
      // What is of another tenant comes first, so that what is done to one's own is no reason.
      const other = await send(blue)
      const mayOther = of === undefined || (isCrossed && role === 'viewer')
      expect(
        mayOther ? other.status === 200 : [403, 404].includes(other.status),
        `${about} of blue: ${describe(other)}`,
      ).toBe(true)
      if (!isCrossed && of === undefined) expect(JSON.stringify(other.body), about).not.toMatch(/blue/)
      const own = await send(acme)
      const may = rank >= roles.indexOf(role)
      // Somebody may have done it before, or nothing waits: then it is over, and not forbidden.
      const isDone = [200, 409].includes(own.status) || isOver(own)
      expect(may ? isDone : own.status === 403, `${about} of acme: ${describe(own)}`).toBe(true)
    }
    for (const person of ofAll === undefined ? [] : people) {
      const [place, change] = ofAll ?? ['']
      const refused = await (change === undefined ? person.api(place) : person.change(place, change))
      expect(refused.status, `${person.name}: ${operation}: ${describe(refused)}`).toBe(403)
    }
    const [to, body] = ofAll ?? (of === undefined ? [path] : of(acme))
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const json = { 'content-type': 'application/json' }
    expect((await askApi(origin, to, { ...init, headers: json })).status, operation).toBe(401)
    const calls = { ...json, authorization: 'Bearer hr_acme-calls' }
    expect((await askApi(origin, to, { ...init, headers: calls })).status, operation).toBe(403)
    const decides = { ...json, authorization: 'Bearer hr_acme-decides' }
    const answer = await askApi(origin, to, { ...init, headers: decides })
    const isRefused = answer.status === 403 || isOver(answer)
    expect(isRefused, `${operation}: ${describe(answer)}`).toBe(
      ofAll !== undefined || rankOf(role) > rankOf('approver'),
    )
  }
  const approvals = console.shop.runtime.approvals.list({ state: 'all' })
  expect(Object.fromEntries(approvals.map(({ tenant, state }) => [tenant, state]))).toEqual({
    acme: 'denied',
    blue: 'waiting',
  })
  const consents = console.shop.runtime.consents.list()
  expect(consents.filter(({ revokedAt }) => revokedAt !== undefined).map(({ tenant }) => tenant)).toEqual([
    'acme',
  ])
})

test('the stream of events tells of the tenants that a person sees, and of no other', async () => {
  const console = await startTeamConsole({ rules, accounts, own: { 'policy.json': policy } })
  const { cookie, change } = await enterAs(console.origin, 'viewer')
  const stream = await fetch(`${console.origin}/api/events`, { headers: { cookie } })
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  await console.ask('1', { tenant: 'blue', actor: 'zoe' })
  await console.ask('2', { tenant: 'acme', actor: 'ann' })
  let told = ''
  while (!told.includes('"ann"')) told += (await reader?.read())?.value ?? ''
  await change('/leave', {})
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) told += read.value
  expect(told).not.toMatch(/blue|zoe/)
})
