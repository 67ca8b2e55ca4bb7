import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call, handrail, makePlace, type Place } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

/** A person with the policy of the page, and the folders that it names. */
function makeOffice(): Place {
  const [policy] = findBlocks(readPage('docs/consents-and-budgets.md')).filter(
    ({ language }) => language === 'json',
  )
  const place = makePlace({ 'a.txt': 'from ann.lee@example.com\n' }, { 'policy.json': policy?.code ?? '' })
  for (const tenant of ['acme', 'zeta']) {
    mkdirSync(join(place.user, tenant, 'docs'), { recursive: true })
    writeFileSync(join(place.user, tenant, 'docs', 'a.txt'), `docs of ${tenant}\n`)
    writeFileSync(join(place.user, tenant, 'b.txt'), `beside docs of ${tenant}\n`)
  }
  return place
}

test('the policy of the page starts, and has no issue (AUTH-6)', async () => {
  const place = makeOffice()
  expect(await handrail(place, ['policy', 'check'])).toMatchObject({ code: 0, stderr: '' })
  expect(await handrail(place, ['tools', '--tenant', 'acme'])).toMatchObject({
    code: 0,
    stdout: expect.not.stringContaining('code.run_command') as string,
  })
})

test.each<[string, object, [code: number, said: RegExp]]>([
  ['code.read_file', { path: 'a.txt' }, [0, /\*+\.com/]],
  [
    'code.read_file --tenant acme --actor ann',
    { path: 'b.txt' },
    [0, /beside docs of acme\nfor ann of acme/],
  ],
  [
    'code.read_file --tenant acme --actor bot-1',
    { path: 'docs/a.txt' },
    [0, /docs of acme\nfor bot-1 of acme/],
  ],
  ['code.read_file --tenant acme --actor bot-1', { path: 'b.txt' }, [3, /SANDBOX.CAPABILITY_BLOCKED/]],
  ['code.list_dir --tenant acme --actor bot-1', { path: 'docs' }, [3, /AUTH.FORBIDDEN \(no_grant\)/]],
  ['code.read_file --tenant zeta --actor bot-1', { path: 'docs/a.txt' }, [3, /AUTH.FORBIDDEN \(no_grant\)/]],
  ['code.read_file --actor mallory', { path: 'a.txt' }, [3, /AUTH.FORBIDDEN \(no_grant\)/]],
  [
    'code.write_file --tenant zeta --approve once',
    { path: 'c.txt', content: '' },
    [3, /POLICY.DENY_TOOL \(rule_denied\): .*zeta is frozen/],
  ],
  ['code.read_file --tenant other', { path: 'a.txt' }, [2, /unknown_tenant: .*"other"/]],
])(
  'under the policy of the page, %s %j ends with %j (AUTH-1, AUTH-6, OUT-3)',
  async (line, input, [code, said]) => {
    const ended = await call(makeOffice(), line, input)
    expect([ended.code, ended.stdout + ended.stderr]).toEqual([code, expect.stringMatching(said)])
  },
)

test('explain shows what is left of the budgets of the page (AUTH-4)', async () => {
  const place = makeOffice()
  const caller = ['--tenant', 'acme', '--actor', 'bot-1']
  expect((await call(place, `code.read_file ${caller.join(' ')}`, { path: 'docs/a.txt' })).code).toBe(0)
  const { stdout } = await handrail(place, ['explain', 'code.read_file', '{"path":"docs/a.txt"}', ...caller])
  expect(stdout).toMatch(/^budget day: \d of 1000 calls spent, until /m)
  expect(stdout).toMatch(/^budget bots: \d of 20 calls spent, until /m)
  expect(stdout).toMatch(/^budget output: \d+ of 1000000000 bytesOut spent$/m)
  expect(stdout).toMatch(/^obligations .*mail, mark/m)
})
