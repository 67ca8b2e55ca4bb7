import { codeTools, type Policy } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

/** What becomes of `git --version` under this policy, where commands may reach these hosts. */
async function judge(policy: Policy, { hosts = ['a.example', '*.b.example'], network = {} } = {}) {
  const { asked, approve } = personSaying('deny')
  const runtime = await openRuntime({
    project: makeFolder(),
    tools: [codeTools({ commands: { hosts, secrets: { git: ['GIT_TOKEN'] } } })],
    policy,
    network,
    approve,
  })
  const session = runtime.session()
  const { effect, decision, profile, preview } = await session.preflight('code.run_command', {
    argv: ['git', '--version'],
  })
  return { effect, decision, hosts: profile?.hosts, preview, asked, session }
}

const git = { effect: 'allow', tools: ['code.run_command'], commands: ['git *'] } as const

test('a person sees the hosts and the secrets of a command (PERM-6, PERM-8)', async () => {
  const { preview, effect } = await judge({})
  expect(effect).toBe('ask')
  expect(preview?.body.split('\n')).toEqual(
    expect.arrayContaining(['may reach *.b.example, a.example', 'with GIT_TOKEN']),
  )
})

test('a rule that allows a command does not allow what it reaches; listed hosts do (PERM-8)', async () => {
  const argv = { effect: 'allow', tools: ['code.run_command'], argv: ['git', '**'] } as const
  for (const rule of [git, argv]) {
    const alone = await judge({ rules: [rule] })
    expect(alone).toMatchObject({ effect: 'ask', decision: { rule: 'network' } })
    const some = await judge({ rules: [rule], network: { hosts: ['a.example'] } })
    expect(some).toMatchObject({ effect: 'ask', decision: { rule: 'network' } })
    const listed = await judge({ rules: [rule], network: { hosts: ['a.example', '*.b.example'] } })
    expect(listed.effect).toBe('allow')
    const open = await judge({ rules: [rule], network: { default: 'allow' } })
    expect(open.effect).toBe('allow')
  }
})

test('a policy without network denies commands with hosts, a rule on one of them too (PERM-8)', async () => {
  const disabled = await judge({ rules: [git], network: { default: 'deny' } })
  expect(disabled).toMatchObject({ effect: 'deny', decision: { rule: 'network' } })
  const listed = { default: 'deny', hosts: ['a.example', '*.b.example'] } as const
  expect((await judge({ rules: [git], network: listed })).effect).toBe('allow')
  const denied = { id: 'no-a', effect: 'deny', resources: ['handrail:host:a.example'] } as const
  expect(await judge({ rules: [git, denied] })).toMatchObject({ effect: 'deny', decision: { rule: 'no-a' } })
  const tagged = { id: 'no-net', effect: 'deny', tags: ['network'] } as const
  const { session } = await judge({ rules: [git, tagged] })
  expect((await session.call('code.run_command', { argv: ['git', '--version'] })).outcome).toBe('denied')
})

test('the hosts of a command are grant ∩ manifest ∩ policy (AUTH-2)', async () => {
  expect((await judge({})).hosts).toEqual(['*.b.example', 'a.example'])
  const grant = (hosts: string[]) => ({ grants: [{ capabilities: { hosts } }] })
  expect((await judge(grant(['x.b.example', 'c.example']))).hosts).toEqual(['x.b.example'])
  expect((await judge(grant([]))).hosts).toEqual([])
  expect((await judge({}, { network: { hosts: ['a.example'] } })).hosts).toEqual(['a.example'])
  expect((await judge({}, { network: { hosts: [] } })).hosts).toEqual([])
  expect((await judge({}, { hosts: [] })).hosts).toEqual([])
})

test('hosts and secrets that stand for nothing are refused, each with its place', () => {
  const commands = { hosts: ['https://a.example', 'b.example:99999'], secrets: { git: ['A B'] } }
  expect(() => codeTools({ commands })).toThrow(
    expect.objectContaining({
      issues: [
        expect.objectContaining({ pointer: '/commands/hosts/0' }),
        expect.objectContaining({ pointer: '/commands/hosts/1' }),
        expect.objectContaining({ pointer: '/commands/secrets/git/0' }),
      ],
    }),
  )
})
