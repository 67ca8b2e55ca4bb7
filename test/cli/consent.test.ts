import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { call, handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'

interface Given {
  id: string
  tenant: string
  actor: string
  tool: string
  scope: string
  givenAt: number
  expiresAt: number
  revokedAt?: number
  reason?: string
}

const consent = (place: Place, line: string, ...more: string[]) =>
  handrail(place, ['consent', ...line.split(' '), ...more])

async function give(place: Place, line: string): Promise<Given> {
  const [given] = jsonOf<Given[]>(await consent(place, `give ${line}`, '--json'))
  if (given === undefined) throw new Error('No consent was printed.')
  return given
}

const write = (place: Place, path: string, options = '') =>
  call(place, `code.write_file${options}`, { path, content: 'x' })

test('a consent that is given at the command line lets calls through until it is revoked (AUTH-3)', async () => {
  const place = makePlace()
  expect((await write(place, 'a.txt')).stderr).toContain('POLICY.APPROVAL_DENIED (no_callback)')
  const given = await consent(place, 'give code.write_file --for 2h --reason', 'the release')
  expect(given.code).toBe(0)
  const [id = ''] = given.stdout.split(' ')
  expect(given.stdout).toMatch(
    /^consent_\w+ {2}until \d{4}-\S+Z {2}code\.write_file \(\*\) {2}for \* of local, by \S+: the release\n$/,
  )
  expect((await write(place, 'a.txt')).code).toBe(0)
  expect((await consent(place, 'list')).stdout).toBe(`${given.stdout}1 consent\n`)
  expect(await consent(place, 'revoke none')).toMatchObject({
    code: 1,
    stderr: 'handrail: There is no consent "none". "handrail consent list" shows them.\n',
  })
  const revoked = await consent(place, `revoke ${id.slice(-6)}`)
  expect([revoked.code, revoked.stdout]).toEqual([0, expect.stringContaining(`${id}  revoked  `)])
  expect((await write(place, 'b.txt')).code).toBe(3)
  expect(existsSync(join(place.project, 'b.txt'))).toBe(false)
  expect((await consent(place, 'list')).stdout).toContain('revoked')
})

test('a consent reaches as far as its scope, its actor and its tenant (AUTH-3, AUTH-6)', async () => {
  const place = makePlace(
    { 'docs/a.txt': '', 'src/a.txt': '' },
    { 'policy.json': { tenants: { acme: {}, zeta: {} } } },
  )
  const explained = await handrail(place, [
    'explain',
    'code.write_file',
    '{"path":"docs/b.txt","content":""}',
  ])
  const scope = /^scope +(.+)$/m.exec(explained.stdout)?.[1] ?? ''
  expect(scope).toBe(join(place.project, 'docs'))
  const given = await give(place, `code.write_file --tenant acme --actor ann --scope ${scope}`)
  expect(given).toMatchObject({ tenant: 'acme', actor: 'ann', scope })
  const codes = async (...lines: string[]) => {
    const ended = await Promise.all(
      lines.map((line) => write(place, ...(line.split('|') as [string, string]))),
    )
    return ended.map(({ code }) => code)
  }
  expect(
    await codes(
      'docs/c.txt| --tenant acme --actor ann',
      'src/c.txt| --tenant acme --actor ann',
      'docs/d.txt| --tenant acme --actor ben',
      'docs/e.txt| --tenant zeta --actor ann',
      'docs/f.txt| --actor ann',
    ),
  ).toEqual([0, 3, 3, 3, 3])
  expect((await consent(place, 'list --tenant zeta')).stdout).toBe('0 consents\n')
  const elsewhere = await consent(place, `revoke ${given.id} --tenant zeta`)
  expect([elsewhere.code, elsewhere.stderr]).toEqual([
    1,
    `handrail: The tenant "zeta" has no consent "${given.id}". "handrail consent list" shows them.\n`,
  ])
  expect(jsonOf<Given[]>(await consent(place, `revoke ${given.id} --json`))).toMatchObject([
    { id: given.id, tenant: 'acme', revokedAt: expect.any(Number) as number },
  ])
})

test('a consent holds for the time that is given, at most for that of the tool, else for a day (AUTH-3)', async () => {
  const place = makePlace()
  const lasts = async (line: string) => {
    const { givenAt, expiresAt } = await give(place, line)
    return expiresAt - givenAt
  }
  expect(await lasts('code.write_file')).toBe(86_400_000)
  expect(await lasts('code.write_file --for 90s')).toBe(90_000)
  await give(place, 'code.edit_file --for 1ms')
  expect((await consent(place, 'list')).stdout).toMatch(/expired {2}code\.edit_file/)
})

test.each<[string, object, string?]>([
  ['every call of the tool', { effect: 'deny', tools: ['code.write_file'] }, 'policy/rules/0'],
  ['every call of the tool by everybody', { effect: 'deny', id: 'none', tools: ['code.*'] }, 'none'],
  ['calls of some sessions', { effect: 'deny', tools: ['code.write_file'], roles: ['main', 'worker'] }],
  ['calls in one mode', { effect: 'deny', tools: ['code.write_file'], modes: ['default'] }],
  ['some of its calls', { effect: 'deny', resources: ['handrail:file:{project}/legal/**'] }],
  ['its calls in another project', { effect: 'deny', tools: ['code.write_file'], projects: ['/srv/other'] }],
  ['none, but asks', { effect: 'ask', tools: ['code.write_file'] }],
])(
  'a consent is given, and says that it answers nothing, if a rule denies %s (AUTH-3)',
  async (_, rule, name) => {
    const place = makePlace({}, { 'policy.json': { rules: [rule] } })
    const { code, stdout, stderr } = await consent(place, 'give code.write_file')
    expect([code, stdout]).toEqual([0, expect.stringContaining('code.write_file (*)')])
    expect(stderr).toBe(
      name === undefined
        ? ''
        : `handrail: "code.write_file" is denied: rule "${name}" says deny. A consent answers a question and no deny, so this one lets nothing through here as long as "${name}" stands. It is kept, and counts once that is gone, or where it does not hold.\n`,
    )
  },
)

test.each([
  ['give code.wite_file', /^handrail: invalid_options: .*\n {2}\/tool: .*Did you mean "code\.write_file"/],
  [
    'give code.write_file --tenant acne',
    /\/tenant: The policy names its tenants, and "acne" is none of them/,
  ],
  ['give code.write_file --actor a,b', /\/actor: "a,b" is not an id of an actor/],
  ['give code.write_file --for 0s', /--for is "0s"; it is a time such as 90s/],
  ['give code.write_file --for 100000000d', /\/validForMs: .* at most ten years/],
  ['give code.write_file --for=-1h', /--for is "-1h"; it is a time such as 90s/],
  ['give', /Name the tool/],
  ['revoke', /Name the consent/],
  ['take x', /There is no "consent take"/],
  ['list x', /"x" is one argument too many/],
])('consent %s says what is wrong, and nothing is given', async (line, message) => {
  const place = makePlace({}, { 'policy.json': { tenants: { acme: {} } } })
  const refused = await consent(place, line)
  expect([refused.code, refused.stdout]).toEqual([2, ''])
  expect(refused.stderr).toMatch(message)
  expect((await consent(place, 'list')).stdout).toBe('0 consents\n')
})

test('a consent is given at a terminal for a tool of a program that runs, and of no other (AUTH-3)', async () => {
  const place = makePlace()
  const runtime = await createRuntime({
    project: place.project,
    home: place.user,
    tools: [makeTool('shop.pay', { permission: 'write' })],
    store: { path: place.store },
  })
  try {
    const session = runtime.session()
    expect((await session.call('shop.pay')).error?.reason).toBe('no_callback')
    const { id } = await give(place, 'shop.pay --for 1h')
    expect((await session.call('shop.pay')).ok).toBe(true)
    await consent(place, `revoke ${id}`)
    expect((await session.call('shop.pay')).error?.reason).toBe('no_callback')
    expect((await consent(place, 'give shop.play')).code).toBe(2)
  } finally {
    await runtime.close()
  }
})

test('a consent in the store that cannot be read is none, and harms no other (AUTH-3)', async () => {
  const place = makePlace()
  await give(place, 'code.write_file')
  const runtime = await createRuntime({
    project: place.project,
    home: place.user,
    store: { path: place.store },
  })
  const [given] = runtime.consents.list()
  const other = { ...given, id: 'consent_2', identity: 'code:other of-another-definition' }
  const facts = ['rubbish', { id: 'consent_x', tool: 'code.edit_file' }, other].map((value, index) => ({
    tenant: 'local',
    kind: 'consent' as const,
    id: `consent_${index}`,
    value,
  }))
  await runtime.store.append([], { facts })
  await runtime.close()
  const listed = (await consent(place, 'list')).stdout
  expect(listed).toMatch(/\n2 consents\n$/)
  expect(listed).toMatch(/consent_2 {2}for another definition {2}code\.write_file/)
  expect((await write(place, 'a.txt')).code).toBe(0)
})
