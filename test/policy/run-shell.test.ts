import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, type ApprovalRequest, type Rule } from 'handrail'
import { describe, expect, test } from 'vitest'
import { atEitherDoor } from '../support/job-doors.ts'
import { openRuntime, personSaying } from '../support/project.ts'

async function open(
  rules: readonly Rule[] = [],
  answer: 'allow_once' | 'allow_for_session' | 'deny' = 'deny',
) {
  const person = personSaying(answer)
  const runtime = await openRuntime({
    tools: [codeTools({ shell: true })],
    policy: { rules },
    approve: person.approve,
  })
  return { runtime, session: runtime.session(), asked: person.asked }
}

atEitherDoor((openDoor) => {
  test('code.run_shell is there only where it is turned on (FILE-7)', async () => {
    const off = await openDoor()
    expect(await off.tools()).not.toContain('code.run_shell')
    const refused = await off.call('code.run_shell', { command: 'touch x' })
    expect(refused).toMatchObject({ ok: false, reason: 'tool_not_available' })
    expect(existsSync(join(off.place.project, 'x'))).toBe(false)
    const on = await openDoor({ configuration: { shell: true } })
    expect(await on.tools()).toContain('code.run_shell')
    const answer = await on.call('code.run_shell', { command: 'cd / && X=1; echo "$X" | tr 1 2' })
    expect(answer.data).toMatchObject({ exit_code: 0, stdout: { head: '2\n' } })
  })

  test('no call of code.run_shell knows of another one (FILE-7)', async () => {
    const door = await openDoor({ configuration: { shell: true } })
    await door.call('code.run_shell', { command: 'cd /tmp; export A=1; b() { echo b; }' })
    const { data } = await door.call('code.run_shell', { command: 'pwd; echo "[$A]"; type b || echo none' })
    expect(data).toMatchObject({
      exit_code: 0,
      stdout: { head: `${realpathSync(door.place.project)}\n[]\nnone\n` },
    })
  })

  test('a rule allows a line only where it covers each command of it (FILE-7, PERM-11)', async () => {
    const rules: Rule[] = [
      { id: 'echo', effect: 'allow', tools: ['code.run_shell'], commands: ['echo *', 'true'] },
    ]
    const door = await openDoor({ configuration: { shell: true }, policy: { rules }, says: 'deny' })
    for (const command of ['echo a', 'true && echo a | echo b', 'echo $(true)'])
      expect([command, (await door.call('code.run_shell', { command })).ok]).toEqual([command, true])
    for (const command of [
      'echo a; touch x',
      'echo a && touch x',
      'echo a || touch x',
      'echo a | touch x',
      'echo a & touch x',
      'echo a\ntouch x',
      'echo $(touch x)',
      'echo `touch x`',
      'echo a > x',
      'echo <(touch x)',
      'echo "a',
      '$(true) touch x',
      'for i in 1; do touch x; done',
    ])
      expect([command, (await door.call('code.run_shell', { command })).reason]).toEqual([command, 'denied'])
    expect(existsSync(join(door.place.project, 'x'))).toBe(false)
  })

  test('a denied command denies the line that it stands in, wherever (FILE-7, PERM-11)', async () => {
    const rules: Rule[] = [{ id: 'no touch', effect: 'deny', commands: ['touch *'] }]
    const door = await openDoor({ configuration: { shell: true }, policy: { rules } })
    for (const command of [
      'true; touch x',
      'env touch x',
      "sh -c 'touch x'",
      't""ouch x',
      'echo $(touch x)',
      '(touch x)',
    ])
      for (const background of [false, true])
        expect([command, (await door.call('code.run_shell', { command, background })).reason]).toEqual([
          command,
          'rule_denied',
        ])
    expect(existsSync(join(door.place.project, 'x'))).toBe(false)
  })
})

describe('the person', () => {
  test('is asked for every line as for any dangerous tool, and sees it (FILE-7)', async () => {
    const { session, asked } = await open()
    const command = 'echo a\nin /\nprogram /bin/true \u001b[2K'
    const result = await session.call('code.run_shell', { command, description: 'says\na' })
    expect(result.error?.reason).toBe('denied')
    const { preview } = asked[0] as ApprovalRequest
    expect(preview?.title).toMatch(
      /^Run echo a ⏎ in \/ ⏎ program \/bin\/true ␛\[2K: it failed \(exit code \d+\), and changed no file$/,
    )
    const lines = preview?.body.split('\n') ?? []
    expect(lines.filter((line) => /^(in|program) /.test(line))).toHaveLength(2)
    expect(lines.slice(0, 3)).toEqual(['echo a', '    in /', '    program /bin/true ␛[2K'])
    expect(lines.filter((line) => line.startsWith('said to be for'))).toEqual(['said to be for: says a'])
  })

  test('who allows a line for the session allows that line alone (FILE-7)', async () => {
    const { session, asked, runtime } = await open([], 'allow_for_session')
    await session.call('code.run_shell', { command: 'echo a >> f' })
    await session.call('code.run_shell', { command: 'echo a >> f' })
    expect(asked).toHaveLength(1)
    await session.call('code.run_shell', { command: 'echo b >> f' })
    expect(asked).toHaveLength(2)
    expect(readFileSync(join(runtime.project, 'f'), 'utf8')).toBe('a\na\nb\n')
  })

  test('is not asked by a rule that names the tool alone (FILE-7)', async () => {
    const { session } = await open([{ effect: 'allow', tools: ['code.run_shell'] }])
    expect((await session.preflight('code.run_shell', { command: 'echo a' })).effect).toBe('ask')
  })
})

test.each([['a\0b'], ['a\ud800'], ['']])(
  'a line that no shell can be given is refused: %j (FILE-7)',
  async (command) => {
    const { session } = await open([], 'allow_once')
    expect((await session.call('code.run_shell', { command })).error?.code).toBe('SCHEMA.VALIDATION_FAILED')
  },
)
