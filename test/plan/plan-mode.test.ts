import { defineTool, type RuntimeOptions, type Session } from 'handrail'
import { planTools, type ConsentPolicy } from 'handrail/tools'
import { expect, test } from 'vitest'
import { openRuntime, personSaying } from '../support/project.ts'
import { makeShop, makeStore, openShop, refundOf } from '../support/shop.ts'

const exit = { plan: '# Plan\n\n1. Refund order 12.' }

async function open(options: RuntimeOptions = {}) {
  const shop = makeShop()
  const runtime = await openRuntime({ tools: [...shop.tools, planTools()], ...options })
  return { ...shop, runtime }
}

const yes = personSaying('allow_once').approve
const namesOf = (session: Session): string[] => session.tools().map(({ name }) => name)

test('a model that enters plan mode narrows its session at once, and only the yes of the person ends that (BI-4, PERM-9)', async () => {
  const person = personSaying('allow_once')
  const { runtime, done } = await open({ approve: person.approve })
  const session = runtime.session()
  const events: unknown[] = []
  session.on(({ type, data }) => type === 'mode_changed' && events.push(data))
  expect(namesOf(session)).toContain('shop.refund')
  expect(await session.call('EnterPlanMode', {}, { presentation: 'compatible' })).toMatchObject({
    data: { mode: 'plan', entered: true },
  })
  expect([session.mode, namesOf(session).includes('shop.refund')]).toEqual(['plan', false])
  const refused = await session.call('shop.refund', { order: '12' })
  expect(refused).toMatchObject({ outcome: 'denied', error: { reason: 'mode_denied' } })
  expect(await session.call('shop.look', { order: '12' })).toMatchObject({ ok: true })
  expect(person.asked).toEqual([])

  const left = await session.call('ExitPlanMode', exit, { presentation: 'compatible' })
  expect(left).toMatchObject({ data: { mode: 'default' } })
  expect(person.asked).toMatchObject([
    {
      tool: 'plan.exit',
      preview: { kind: 'text', title: 'Leave plan mode, and go back to mode "default"', body: exit.plan },
      because: { rule: 'person' },
    },
  ])
  expect(session.mode).toBe('default')
  expect(await session.call('shop.refund', { order: '12' })).toMatchObject({ ok: true })
  expect([done, person.asked.length]).toEqual([['12'], 2])
  expect(events).toEqual([
    { mode: 'plan', before: 'default' },
    { mode: 'default', before: 'plan' },
  ])
})

const allowAll = [{ effect: 'allow' as const, tools: ['*'], sensitive: true }]

test('no rule, hook, consent, yes for the session, mode or program that decides ahead answers for the person (BI-4)', async () => {
  const ahead = Object.assign(async () => ({ decision: 'allow_once' as const }), { ahead: true })
  const ways: [
    string,
    RuntimeOptions,
    Parameters<Awaited<ReturnType<typeof open>>['runtime']['session']>[0],
  ][] = [
    ['a rule', { policy: { rules: allowAll } }, {}],
    ['a hook', { hooks: [{ name: 'fine', before: () => ({ decision: 'allow' }) }] }, {}],
    ['bypass', { policy: { allowBypass: true } }, { mode: 'bypass' }],
    ['ahead', { approve: ahead }, {}],
  ]
  for (const [way, options, about] of ways) {
    const { runtime } = await open(options)
    const session = runtime.session(about)
    await session.call('plan.enter')
    const { effect, decision } = await session.preflight('plan.exit', exit)
    expect([way, effect, decision?.rule]).toEqual([way, 'deny', 'person'])
    const left = await session.call('plan.exit', exit)
    expect([way, left.outcome, left.error?.reason, session.mode]).toEqual([
      way,
      'denied',
      'no_callback',
      'plan',
    ])
  }
  const { runtime } = await open()
  await expect(runtime.consents.give({ tool: 'plan.exit', givenBy: 'ann' })).rejects.toThrow(
    /every single call/,
  )
})

test('a yes for the session holds for one time only (BI-4)', async () => {
  const person = personSaying('allow_for_session')
  const { runtime } = await open({ approve: person.approve })
  const session = runtime.session()
  for (const _ of [1, 2]) {
    await session.call('plan.enter')
    expect(await session.call('plan.exit', exit)).toMatchObject({ ok: true })
  }
  expect([person.asked.length, session.approvals()]).toEqual([2, []])
})

test('fifty calls that leave plan mode change nothing, and a model cannot approve itself (BI-4)', async () => {
  const { runtime, done } = await open({ approve: personSaying('deny').approve })
  const session = runtime.session()
  await session.call('plan.enter')
  for (let count = 0; count < 50; count++) {
    const left = await session.call('plan.exit', { plan: `plan ${count}` })
    expect([left.ok, session.mode]).toEqual([false, 'plan'])
  }
  const approved = await session.call('plan.exit', { ...exit, approved: true })
  expect(approved).toMatchObject({ error: { reason: 'invalid_input' } })
  // A turn that goes on as if the person had said yes gets no further.
  const { results } = await session.turn([{ id: '1', tool: 'plan.exit', input: exit }, refundOf('2')])
  expect([results.map(({ ok }) => ok), done]).toEqual([[false, false], []])
})

test('the session has the mode that it had before, never a wider one (BI-4, PERM-9)', async () => {
  for (const mode of ['default', 'accept-edits', 'bypass'] as const) {
    const { runtime } = await open({ approve: yes, policy: { allowBypass: true } })
    const session = runtime.session({ mode })
    await session.call('plan.enter')
    expect(await session.call('plan.exit', exit)).toMatchObject({ data: { mode } })
    expect(session.mode).toBe(mode)
  }
})

test('who is not in plan mode, or was opened in it, is told so and asks no person in vain (BI-4)', async () => {
  const person = personSaying('allow_once')
  const { runtime } = await open({ approve: person.approve })
  for (const [mode, text] of [
    ['default', /not in plan mode/],
    ['plan', /was opened in plan mode/],
  ] as const) {
    const session = runtime.session({ mode })
    const left = await session.call('plan.exit', exit)
    expect(left.error).toMatchObject({
      reason: 'not_in_plan_mode',
      message: expect.stringMatching(text) as string,
    })
    expect([session.mode, person.asked]).toEqual([mode, []])
  }
  const session = runtime.session({ mode: 'plan' })
  expect(await session.call('plan.enter')).toMatchObject({ data: { entered: false } })
})

test('an approval waits for the person in another process, and the session goes on there (BI-4, PERM-9)', async () => {
  const path = makeStore()
  const withPlan = async () => openShop(path, { tools: [...makeShop().tools, planTools()] })
  const first = await withPlan()
  const session = first.runtime.session({ id: 'thread', mode: 'accept-edits' })
  await session.call('plan.enter')
  const step = await session.step([{ id: '1', tool: 'plan.exit', input: exit }, refundOf('2')])
  expect(step.waiting).toMatchObject([{ approval: { request: { preview: { body: exit.plan } } } }])
  expect(step.results).toMatchObject([{ error: { reason: 'mode_denied' } }])
  await first.runtime.close()

  const second = await withPlan()
  // Who opens it again in a wider mode has the one before in the end.
  const again = second.runtime.session({ id: 'thread', mode: 'accept-edits' })
  const other = (await withPlan()).runtime.session({ id: 'thread', mode: 'default' })
  expect([again.mode, other.mode]).toEqual(['plan', 'plan'])
  expect(await again.call('shop.refund', { order: '1' })).toMatchObject({ error: { reason: 'mode_denied' } })
  expect((await again.resume(step)).waiting).toHaveLength(1)
  const [waiting] = second.runtime.approvals.list()
  await second.runtime.approvals.decide(waiting?.id ?? '', { decision: 'allow_once', by: 'ann' })
  const next = await again.resume(step)
  expect(next.results).toMatchObject([{ tool: 'plan.exit', ok: true }, {}])
  expect(again.mode).toBe('accept-edits')
  await expect.poll(() => other.mode).toBe('default')
  // The answer counted once.
  await again.call('plan.enter')
  expect((await again.step([{ id: '3', tool: 'plan.exit', input: exit }])).waiting).toHaveLength(1)
  expect(again.mode).toBe('plan')
})

test('a session that another process opened in a wider mode goes back to the one before (BI-4)', async () => {
  const path = makeStore()
  const tools = [...makeShop().tools, planTools()]
  const [one, two] = [await openShop(path, { tools }), await openShop(path, { tools, approve: yes })]
  await one.runtime.session({ id: 'thread' }).call('plan.enter')
  const wide = two.runtime.session({ id: 'thread', mode: 'accept-edits' })
  await expect.poll(() => wide.mode).toBe('plan')
  expect(await wide.call('plan.exit', exit)).toMatchObject({ data: { mode: 'default' } })
  expect(wide.mode).toBe('default')
  await wide.call('plan.enter')
  await wide.close({ forget: true })
  expect(one.runtime.session({ id: 'thread' }).mode).toBe('default')
})

test('a child is in plan mode while the session above is, and ends only its own (BI-4, PERM-9)', async () => {
  const person = personSaying('allow_once')
  const { runtime } = await open({ approve: person.approve })
  const parent = runtime.session()
  const child = runtime.session({ parent, allowedTools: ['shop.*', 'plan.*'] })
  await child.call('plan.enter')
  expect([child.mode, parent.mode]).toEqual(['plan', 'default'])
  expect(await child.call('plan.exit', exit)).toMatchObject({ data: { mode: 'default' } })
  expect(person.asked.at(-1)?.parents).toMatchObject([{ session: parent.id }])

  await parent.call('plan.enter')
  const born = runtime.session({ parent, allowedTools: ['shop.*', 'plan.*'] })
  expect([child.mode, born.mode]).toEqual(['plan', 'plan'])
  expect(() => runtime.session({ parent, mode: 'default' })).toThrow(/reaches further/)
  expect((await child.call('shop.refund', { order: '1' })).error?.reason).toBe('mode_denied')
  expect((await born.call('plan.exit', exit)).error?.message).toContain('cannot leave it')
  await parent.call('plan.exit', exit)
  expect([child.mode, born.mode, person.asked.length]).toEqual(['default', 'default', 2])
})

test('what was let through before the session entered plan mode does not begin after it (BI-4)', async () => {
  const ran: string[] = []
  const [hooked, entered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const write = defineTool({
    name: 'shop.write',
    description: 'Changes something.',
    permission: 'write',
    run: () => void ran.push('write'),
  })
  const { runtime } = await open({
    tools: [write, planTools()],
    policy: { rules: allowAll },
    hooks: [
      {
        name: 'slow',
        tools: ['shop.write'],
        before: async () => {
          hooked.resolve()
          await entered.promise
          return { decision: 'allow' }
        },
      },
    ],
  })
  const session = runtime.session()
  const late = session.call('shop.write')
  await hooked.promise
  await session.call('plan.enter')
  entered.resolve()
  expect((await late).error).toMatchObject({ reason: 'mode_denied' })
  expect(ran).toEqual([])
})

test('a question about a write goes stale when the session enters plan mode meanwhile (BI-4)', async () => {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<{ decision: 'allow_once' }>()
  const { runtime, done } = await open({
    approve: () => {
      asked.resolve()
      return answer.promise
    },
  })
  const session = runtime.session()
  const late = session.call('shop.refund', { order: '1' })
  await asked.promise
  await session.call('plan.enter')
  answer.resolve({ decision: 'allow_once' })
  expect((await late).error).toMatchObject({ reason: 'approval_stale' })
  expect(done).toEqual([])
})

test('a tool of a program leaves plan mode only if a person has to say yes to each of its calls (BI-4)', async () => {
  const leave = (name: string, consent: ConsentPolicy) =>
    defineTool({
      name,
      description: 'Leaves plan mode.',
      permission: 'readonly',
      needs: ['planMode'],
      consent,
      run: async ({ planMode }) => {
        await planMode.leave()
        return 'left'
      },
    })
  const sly = leave('shop.sly', { required: true })
  const { runtime } = await open({ tools: [sly, planTools()], approve: yes })
  const session = runtime.session()
  await session.call('plan.enter')
  expect(await session.call('shop.sly')).toMatchObject({ ok: false, error: { reason: 'no_callback' } })
  expect(session.mode).toBe('plan')
  const wrong = leave('shop.wrong', { required: true, personOnly: true })
  await expect(open({ tools: [wrong] })).rejects.toMatchObject({
    issues: [{ pointer: expect.stringContaining('/consent/personOnly') as string }],
  })
})
