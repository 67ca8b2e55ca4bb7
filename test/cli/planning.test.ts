import { planTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'
import { makeShop, openShop } from '../support/shop.ts'
import { ctrlD, openTerminal } from '../support/terminal.ts'

const config = { 'config.json': { toolGroups: ['plan', 'user'] } }
const question = JSON.stringify({
  question: 'Which store?',
  options: [{ label: 'Postgres', description: 'A server.' }, { label: 'SQLite' }],
})

test('a person at the terminal answers what a model asks, or declines (BI-1)', async () => {
  const terminal = openTerminal(makePlace({}, config), ['call', 'user.ask', question])
  for (const [prompt, line] of [
    ['Answer? yes / no: ', 'yes\n'],
    ['  chosen_1: ', 'SQLite\n'],
    ['  text_1: ', 'It is enough.\n'],
  ] as const) {
    await terminal.sawNext(prompt)
    terminal.type(line)
  }
  expect([await terminal.ended, terminal.screen()]).toEqual([
    0,
    expect.stringContaining('→ SQLite; It is enough.'),
  ])
  expect(terminal.screen()).toContain('the model of this session')
  const declines = openTerminal(makePlace({}, config), ['call', 'user.ask', question])
  await declines.saw('Answer? yes / no: ')
  declines.type(ctrlD)
  expect([await declines.ended, declines.screen()]).toEqual([
    0,
    expect.stringContaining('The person declined to answer.'),
  ])
})

test('without a person at the command line the call says so and ends (BI-1)', async () => {
  const { code, stdout } = await handrail(makePlace({}, config), ['call', 'user.ask', question])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/No person can be asked here|declined to answer/)])
})

test('a person reads the whole plan at the command line, and their yes ends plan mode (BI-4)', async () => {
  const place = makePlace({}, config)
  const shop = await openShop(place.store, { tools: [...makeShop().tools, planTools()] })
  const session = shop.runtime.session({ id: 'thread', actor: 'agent' })
  await session.call('plan.enter')
  const plan = ['# Plan', ...Array.from({ length: 60 }, (_, index) => `${index + 1}. Step ${index}.`)].join(
    '\n',
  )
  const step = await session.step([{ id: '1', tool: 'plan.exit', input: { plan } }])
  const { stdout } = await handrail(place, ['approvals', 'show', 'last'])
  for (const line of ['Leave plan mode, and go back to mode "default"', '1. Step 0.', '60. Step 59.'])
    expect(stdout).toContain(line)
  expect(stdout).toContain('only a person says yes to this tool')
  await handrail(place, ['approvals', 'deny', 'last', '--as', 'ann', '--reason', 'Too much.'])
  const denied = await session.resume(step)
  expect([denied.results[0]?.error?.message, session.mode]).toEqual([
    expect.stringContaining('Too much.'),
    'plan',
  ])
  const second = await session.step([{ id: '2', tool: 'plan.exit', input: { plan: '# Less' } }])
  const allowed = await handrail(place, [
    'approvals',
    'allow',
    'last',
    '--yes',
    '--for-session',
    '--as',
    'ann',
  ])
  expect(allowed.code).toBe(0)
  expect(await session.resume(second)).toMatchObject({ results: [{ ok: true }] })
  // A yes for the session was one for this plan.
  expect([session.mode, session.approvals()]).toEqual(['default', []])
})
