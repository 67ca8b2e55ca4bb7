import { expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { enterAs, rule, startTeamConsole } from '../../support/team-console.ts'

const accounts = { ann: { name: 'Ann', groups: ['ops'] }, bob: { name: 'Bob', groups: ['ops'] } }
const policy = {
  approvers: [{ tools: ['code.write_file'], notRequester: true }],
  budgets: [{ id: 'tries', unit: 'calls', limit: 5, each: ['actor'] }],
}
const team = keepOpen(() =>
  startTeamConsole({ rules: [rule('ops', 'operator', '*')], accounts, own: { 'policy.json': policy } }),
)

test('who logged in cannot say yes to the call that they try, as another person has to, and its budget is theirs', async () => {
  const { origin } = team()
  const [ann, bob] = [await enterAs(origin, 'ann'), await enterAs(origin, 'bob')]
  const tried = await ann.change('/tools/code.write_file/call', { input: { path: 'made.txt', content: 'm' } })
  expect(tried.body).toMatchObject({ state: 'waiting' })
  const path = `/approvals/${tried.body.approval}`
  const { digest } = (await ann.api(path)).body.approval
  const yes = { decision: 'allow_once', digest }
  const own = await ann.change(path, yes)
  expect([own.status, own.body.code]).toEqual([403, 'not_approver'])
  expect((await bob.change(path, yes)).body.approval).toMatchObject({ state: 'allowed' })
  const left = async (): Promise<unknown> => (await ann.api('/budgets')).body.budgets[0]?.left
  await expect.poll(left).toBe(4)
})
