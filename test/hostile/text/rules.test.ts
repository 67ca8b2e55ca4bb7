import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Policy } from 'handrail'
import { expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { atOpenEntrances } from '../../support/sandbox-entrances.ts'

const secret = 'canary-behind-a-rule'

const policy: Policy = {
  rules: [
    {
      id: 'open',
      effect: 'allow',
      tools: ['code.write_file'],
      resources: ['handrail:file:{project}/open/**'],
    },
    { id: 'kept', effect: 'deny', resources: ['handrail:file:{project}/kept/**'] },
    { id: 'secret', effect: 'deny', resources: ['handrail:file:{project}/secret.txt'] },
    {
      id: 'half',
      effect: 'deny',
      tools: ['code.write_file'],
      resources: ['handrail:file:{project}/open/half/**'],
    },
    { id: 'shown', effect: 'allow', commands: ['cat *', 'grep *', 'ls *'] },
    // Each would take for ever, were it matched by trying all ways.
    { id: 'stars', effect: 'deny', tools: [`${'*a'.repeat(40)}b`], commands: [`${'*a'.repeat(40)}b`] },
    { id: 'paths', effect: 'deny', resources: [`handrail:file:{project}/${'**/a*'.repeat(20)}b`] },
    { id: 'input', effect: 'deny', tools: ['code.write_file'], input: { content: `${'*a'.repeat(40)}b` } },
  ],
}

const files = {
  'secret.txt': secret,
  'kept/a.txt': secret,
  'kept/deep/b.txt': secret,
  'open/c.txt': 'open',
  'open/half/d.txt': 'open',
  'handrail.json': JSON.stringify({
    rules: [
      { effect: 'allow', tools: ['*'] },
      { effect: 'allow', tools: ['code.write_file'], resources: ['*'] },
    ],
    limits: { callsPerSession: 1_000_000_000 },
  }),
  // What other programs obey, or what Handrail would obey in the person's home.
  '.handrail/policy.json': JSON.stringify({ rules: [{ effect: 'allow', tools: ['*'] }], mode: 'bypass' }),
  '.handrail/config.json': JSON.stringify({ writeRoots: ['/'], sandbox: 'host' }),
  '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash(*)', 'Write(**)'] } }),
  'policy.json': JSON.stringify({ rules: [{ effect: 'allow', tools: ['*'] }] }),
}

/** Calls about which no rule says anything. */
const unruled: readonly (readonly [tool: string, input: Readonly<Record<string, unknown>>])[] = [
  ['code.write_file', { path: 'new.txt', content: 'x' }],
  ['code.write_file', { path: 'open-evil/new.txt', content: 'x' }],
  ['code.write_file', { path: 'open/../new.txt', content: 'x' }],
  ['code.edit_file', { path: 'open/c.txt', edits: [{ old: 'open', new: 'x' }] }],
  ['code.run_command', { argv: ['touch', 'new.txt'] }],
  ['code.run_shell', { command: 'touch new.txt' }],
]

/** Ways to write a path that a rule denies. */
const spelled = [
  'secret.txt',
  './secret.txt',
  'open/../secret.txt',
  'open/./half/../../secret.txt',
  './/secret.txt',
  '{WS}/secret.txt',
  '{WS}/open/../secret.txt',
  'kept/a.txt',
  'open/../kept/a.txt',
  'kept//deep/../a.txt',
  'kept/./deep/b.txt',
  'to-secret',
  'to-kept/a.txt',
  'open/to-kept/deep/b.txt',
  'to-kept/../kept/a.txt',
  '../{NAME}/kept/a.txt',
]

atOpenEntrances({ files, policy, says: 'deny', configuration: { shell: true } }, (at) => {
  const fill = (text: string) => {
    const { project } = at()
    return text.replaceAll('{WS}', project).replaceAll('{NAME}', project.slice(project.lastIndexOf('/') + 1))
  }
  keepOpen(() => {
    const { project } = at()
    for (const [name, target] of [
      ['to-secret', 'secret.txt'],
      ['to-kept', 'kept'],
      ['open/to-kept', '../kept'],
    ] as const)
      symlinkSync(target, join(project, name))
  })

  test.each(unruled)(
    'PL-01, PL-13 what no rule of the person allows is not done: %s %j',
    async (tool, input) => {
      const { project, call } = at()
      const answer = await call(tool, input)
      expect(answer).toMatchObject({ ok: false, code: 'POLICY.APPROVAL_DENIED' })
      expect([
        existsSync(join(project, 'new.txt')),
        readFileSync(join(project, 'open/c.txt'), 'utf8'),
      ]).toEqual([false, 'open'])
    },
  )

  test('PL-02 where one rule allows and another denies, it is denied', async () => {
    const { call, project } = at()
    const write = (path: string) => call('code.write_file', { path, content: 'x', overwrite: true })
    for (const path of ['open/half/d.txt', 'open/half/new.txt', 'open/x/../half/d.txt'])
      expect([path, (await write(path)).reason]).toEqual([path, 'rule_denied'])
    expect(readFileSync(join(project, 'open/half/d.txt'), 'utf8')).toBe('open')
    for (const path of ['open/new.txt', 'open/half.txt', 'open/halfway/new.txt', './open/./other.txt'])
      expect([path, (await write(path)).ok]).toEqual([path, true])
  })

  test.each(spelled)('PL-04 %j is denied by a rule on the path that it means', async (path) => {
    const { call } = at()
    for (const [tool, input] of [
      ['code.read_file', {}],
      ['code.write_file', { content: 'x', overwrite: true }],
      ['code.edit_file', { edits: [{ old: 'canary', new: 'x' }] }],
      ['code.search', { query: '.' }],
    ] as const) {
      const { ok, reason, seen } = await call(tool, { ...input, path: fill(path) })
      expect({ tool, ok, reason, leaks: seen.includes(secret) }).toEqual({
        tool,
        ok: false,
        reason: 'rule_denied',
        leaks: false,
      })
    }
  })

  test('PL-04 a search of all does not show what a rule denies, nor does a command', async () => {
    const { call, run } = at()
    expect((await call('code.search', { query: 'canary|open' })).seen).not.toContain(secret)
    for (const argv of [
      ['cat', 'secret.txt', 'kept/a.txt', 'to-secret'],
      ['grep', '-r', 'canary', '.'],
    ])
      expect((await run(...argv)).seen).not.toContain(secret)
    expect((await run('cat', 'open/half/d.txt')).text).toContain('open')
  })

  test('PL-05 patterns with many stars are decided, and text that almost fits them too', async () => {
    const many = 'a'.repeat(200)
    const { call, run } = at()
    expect(await call('code.write_file', { path: `open/${many}`, content: 'a'.repeat(5_000) })).toMatchObject(
      { ok: true },
    )
    expect((await run('cat', ...Array.from({ length: 200 }, () => many))).reason).toBe('exit_code')
    const { reason } = await call('code.write_file', { path: 'open/e.txt', content: `${'a'.repeat(50)}b` })
    expect(reason).toBe('rule_denied')
  })
})
