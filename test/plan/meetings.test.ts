import { planTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { personSaying } from '../support/project.ts'
import { makeShop, makeStore, openShop, refundOf } from '../support/shop.ts'

const tools = [...makeShop().tools, planTools()]
const exit = { plan: '# Plan' }

test('two people have to say yes to a plan if the policy says so, and a yes of another one does not count (BI-4, AUTH-3)', async () => {
  const policy = { approvers: [{ tools: ['plan.exit'], needed: 2, notRequester: true }] }
  const { runtime } = await openShop(makeStore(), { tools, policy, approve: personSaying('deny').approve })
  const session = runtime.session({ actor: 'agent' })
  await session.call('plan.enter')
  const step = await session.step([{ id: '1', tool: 'plan.exit', input: exit }])
  const id = step.waiting[0]?.approval.id ?? ''
  const decide = (by: string) => runtime.approvals.decide(id, { decision: 'allow_once', by })
  await expect(decide('agent')).rejects.toMatchObject({ code: 'not_approver' })
  await decide('ann')
  expect([(await session.resume(step)).waiting.length, session.mode]).toEqual([1, 'plan'])
  await decide('bob')
  expect(await session.resume(step)).toMatchObject({ results: [{ ok: true }] })
  expect(session.mode).toBe('default')
})

test('one yes ends plan mode once, in whichever of two processes comes back with it (BI-4)', async () => {
  const path = makeStore()
  const [one, two] = [await openShop(path, { tools }), await openShop(path, { tools })]
  const sessions = [one, two].map(({ runtime }) => runtime.session({ id: 'thread' }))
  const [first, second] = sessions
  await first?.call('plan.enter')
  const step = await first?.step([{ id: '1', tool: 'plan.exit', input: exit }])
  if (step === undefined) throw new Error('There is a step.')
  await one.runtime.approvals.decide(step.waiting[0]?.approval.id ?? '', {
    decision: 'allow_once',
    by: 'ann',
  })
  const resumed = await Promise.all([first?.resume(step), second?.resume(step)])
  expect(resumed.flatMap((each) => each?.results.map(({ ok }) => ok) ?? [])).toContain(true)
  await expect.poll(() => sessions.map((session) => session.mode)).toEqual(['default', 'default'])
  const ends = [...one.runtime.store.records({ kind: 'end' })].map(
    ({ text }) => JSON.parse(text) as { tool: string; outcome: string },
  )
  expect(ends.filter(({ tool, outcome }) => tool === 'plan.exit' && outcome === 'ok')).toHaveLength(1)
})

test('a call that is aborted while the person reads the plan leaves the session in plan mode (BI-4)', async () => {
  const asked = Promise.withResolvers<void>()
  const approve = () => {
    asked.resolve()
    return new Promise<never>(() => {})
  }
  const { runtime } = await openShop(makeStore(), { tools, approve })
  const session = runtime.session()
  await session.call('plan.enter')
  const leaving = session.call('plan.exit', exit, { id: 'x' })
  await asked.promise
  expect(session.abort('x', 'never mind')).toBe(true)
  expect([(await leaving).outcome, session.mode]).toEqual(['aborted', 'plan'])
})

test('a plan waits without its secrets, and is kept of one tenant (BI-4, AUTH-6)', async () => {
  const secrets = { KEY: 'very-secret-value-1234' }
  const { runtime } = await openShop(makeStore(), { tools, secrets })
  const session = runtime.session({ id: 'thread' })
  await session.call('plan.enter')
  await session.step([{ id: '1', tool: 'plan.exit', input: { plan: `Use ${secrets.KEY}.` } }])
  const [waiting] = runtime.approvals.list()
  expect(waiting?.request.preview.body).toMatch(/^Use .*\.$/)
  expect(JSON.stringify([waiting, runtime.store.facts('session')])).not.toContain(secrets.KEY)
  const other = runtime.session({ id: 'thread', tenant: 'acme' })
  expect(other.mode).toBe('default')
  expect((await other.step([refundOf('a')])).waiting).toHaveLength(1)
})

test('a process that is killed right after it entered plan mode has entered it for all (BI-4)', async () => {
  const path = makeStore()
  const shop = await openShop(path, { tools })
  const script = `
    import { createRuntime } from 'handrail'
    import { planTools } from 'handrail/tools'
    const runtime = await createRuntime({ project: '.', store: { path: ${JSON.stringify(path)} }, tools: [planTools()] })
    const { ok } = await runtime.session({ id: 'thread', actor: 'ann' }).call('plan.enter')
    process.stdout.write('entered ' + ok)
    setInterval(() => {}, 1000)`
  const running = startProgram(makePlace(), [onBundle, '--input-type=module', '--eval', script], {
    cwd: packageRoot,
  })
  await running.saw('entered true')
  running.child.kill('SIGKILL')
  await running.ended
  const session = shop.runtime.session({ id: 'thread', actor: 'ann', mode: 'accept-edits' })
  expect(session.mode).toBe('plan')
})

test('what the model does not see in plan mode it does not see at any door of the session (PERM-9, POOL-2)', async () => {
  const { runtime } = await openShop(makeStore(), { tools })
  const session = runtime.session()
  await session.call('plan.enter')
  const preflight = await session.preflight('shop.refund', { order: '1' })
  expect([preflight.effect, preflight.error?.reason]).toEqual(['deny', 'mode_denied'])
  const { tools: available } = await session.available()
  expect(available.find(({ tool }) => tool === 'shop.refund')).toMatchObject({ effect: 'deny' })
  // What narrows the session besides stays when plan mode ends.
  const end = session.restrict({ disallowedTools: ['plan.exit'] })
  expect((await session.call('plan.exit', exit)).error?.reason).toBe('tool_not_available')
  end()
})
