import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rounds } from '../../support/rounds.ts'
import { atOpenEntrances, type Entrance, type EntranceOptions } from '../../support/sandbox-entrances.ts'

/** Lines that do more than `echo`, though that is all that a rule allows; each would leave the file `mark`. */
const lines: readonly (readonly [id: string, ...lines: readonly string[]])[] = [
  [
    'CM-01',
    'echo ok; touch mark',
    'echo ok;touch mark',
    ';touch mark',
    'echo ok;;touch mark',
    '{ echo ok;touch mark;}',
  ],
  [
    'CM-02',
    'echo ok && touch mark',
    'false || touch mark',
    'echo ok | tee mark',
    'echo ok |& tee mark',
    'touch mark & echo ok',
    'echo ok&touch mark',
    'echo ok && ! touch mark',
    '(echo ok && (touch mark))',
  ],
  [
    'CM-04',
    'echo ok\ntouch mark',
    'echo ok\r\ntouch mark\r\n',
    'echo ok \\\n\ntouch mark',
    'echo ok # comment\ntouch mark',
    "echo 'ok\n'\ntouch mark",
    'echo ok\n\n\t touch mark',
  ],
  [
    'CM-06',
    'echo "$(touch mark)"',
    'echo $(touch mark)',
    'echo $(echo $(touch mark))',
    'echo "${x:-$(touch mark)}"',
    'echo ${x:=`touch mark`}',
    'echo "a$(echo b; touch mark)c"',
    'echo "\'$(touch mark)\'"',
    'echo $(</dev/null touch mark)',
    'echo ${ touch mark; }',
  ],
  ['CM-07', 'echo `touch mark`', 'echo "`touch mark`"', 'echo `echo \\`touch mark\\``', '`touch mark` echo'],
  ['CM-08', 'cat <(touch mark)', 'echo <(touch mark)', 'echo >(touch mark)', 'echo ok > >(touch mark)'],
  [
    'CM-09',
    'cat <<E\n$(touch mark)\nE',
    'echo <<E\n$(touch mark)\nE',
    'echo <<-E\n\t`touch mark`\n\tE',
    "echo <<'E'\nok\nE\ntouch mark",
    'echo <<E; touch mark\nok\nE',
    'echo <<< "$(touch mark)"',
  ],
  [
    'CM-10',
    "x='a[$(touch mark)]'; echo $((x))",
    'echo $((x))',
    'echo $[x]',
    'echo $((a[$(touch mark)]))',
    "echo ${a['$(touch mark)']}",
    "let 'a[$(touch mark)]=1'",
    '((a[$(touch mark)]))',
    'echo ${x:a[$(touch mark)]}',
  ],
  [
    'CM-12',
    "[[ -v 'a[$(touch mark)]' ]]",
    "test -v 'a[$(touch mark)]'",
    "[ -v 'a[$(touch mark)]' ]",
    '[[ a -eq a[$(touch mark)] ]]',
    "printf -v 'a[$(touch mark)]' x",
    "read 'a[$(touch mark)]' <<< x",
    "unset 'a[$(touch mark)]'",
    "declare 'a[$(touch mark)]=x'",
  ],
  [
    'CM-13',
    "x='$(touch mark)'; echo ${x@P}",
    'echo ${x@P}',
    'echo ${!x}',
    "PS4='$(touch mark)'; set -x; echo",
    "PROMPT_COMMAND='touch mark'",
  ],
  [
    'CM-15',
    String.raw`$'\x74ouch' mark`,
    String.raw`$'\164\157\165\143\150' mark`,
    String.raw`t\o'u'"c"h mark`,
    'X=touch; $X mark',
    '${X:-touch} mark',
    '{touch,mark}',
    'to?ch mark',
    '/usr/bin/t*h mark',
    '$"touch" mark',
    'echo; "touch" mark',
    '\\touch mark',
  ],
  [
    'CM-21',
    'echo x > mark',
    'echo x >> mark',
    'echo x >| mark',
    'exec 3> mark; echo x >&3',
    'echo x 3<> mark',
    '> mark',
    'echo x &> mark',
    'echo x >&mark',
    '{ echo x; } > mark',
  ],
  [
    'CM-22',
    'cd .. && echo x > f',
    'cd / ; touch mark',
    'pushd .. ; touch mark',
    'CDPATH=.. cd x && touch mark',
  ],
  [
    'CM-23',
    'export PAGER=./p; touch mark',
    'PAGER=./p',
    'PATH=. echo ok',
    'alias echo=touch; echo mark',
    'echo() { touch mark; }; echo',
    'function echo { touch mark; }; echo',
    'hash -p /usr/bin/touch echo; echo mark',
    'enable -n echo; PATH=. echo mark',
  ],
  [
    'CM-25',
    "trap 'touch mark' EXIT",
    'trap "touch mark" DEBUG; echo',
    'coproc touch mark',
    'coproc echo { touch mark; }',
    'eval touch mark',
    'eval echo ok',
    'exec touch mark',
    'command touch mark',
    'builtin eval touch mark',
    '. ./mark',
    'source ./mark',
    "mapfile -C 'touch mark' -c 1 a <<< x",
    'compgen -C "touch mark"',
    'bash -c "touch mark"',
  ],
  [
    'CM-01',
    'if echo; then touch mark; fi',
    'while echo; do touch mark; break; done',
    'for i in 1; do touch mark; done',
    'case x in x) touch mark;; esac',
    'select x in a; do touch mark; done <<< 1',
    'time touch mark',
    '! touch mark',
    'until touch mark; do :; done',
  ],
  [
    'CM-33',
    'xargs touch <<< mark',
    'echo mark | xargs touch',
    'env touch mark',
    'find . -exec touch mark +',
    'nohup touch mark',
    'timeout 5 touch mark',
    'nice touch mark',
  ],
  [
    'CM-37',
    'LD_PRELOAD=./l.so echo ok',
    'BASH_ENV=./p bash -c "echo ok"',
    'ENV=./p sh -c "echo ok"',
    'env LD_PRELOAD=./l.so echo ok',
    'BASH_FUNC_echo%%="() { touch mark; }" bash -c echo',
  ],
  [
    'CM-04',
    'echo "not closed',
    "echo 'not closed",
    'echo $(not closed',
    'echo `not closed',
    'echo <<E\nnot closed',
    'echo ${not closed',
  ],
]

/** Lines that only echo, whatever they look like, and what they write. */
const harmless: readonly (readonly [id: string, line: string, output: string])[] = [
  ['CM-01', "echo 'ok; touch mark'", 'ok; touch mark'],
  ['CM-01', 'echo ok\\; touch mark', 'ok; touch mark'],
  ['CM-01', 'echo ok; echo there', 'ok\nthere'],
  ['CM-02', 'echo "ok && touch mark" || echo no', 'ok && touch mark'],
  ['CM-02', 'echo ok 2>&1', 'ok'],
  ['CM-04', 'echo ok \\\n touch mark # and a comment; touch mark', 'ok touch mark'],
  ['CM-06', "echo '$(touch mark)'", '$(touch mark)'],
  ['CM-06', 'echo "\\$(touch mark)"', '$(touch mark)'],
  ['CM-06', 'echo "$(echo inner)"', 'inner'],
  ['CM-07', "echo '`touch mark`'", '`touch mark`'],
  ['CM-09', "echo ok <<'E'\n$(touch mark)\nE", 'ok'],
  ['CM-21', "echo 'a > mark'", 'a > mark'],
  ['CM-21', 'echo quiet > /dev/null; echo loud', 'loud'],
  ['CM-25', 'echo eval touch mark', 'eval touch mark'],
]

const policy = {
  rules: [
    {
      id: 'Bash(echo *)',
      effect: 'allow' as const,
      tools: ['code.run_command', 'code.run_shell'],
      commands: ['echo *', 'true'],
    },
    { id: 'Bash(curl *)', effect: 'deny' as const, commands: ['curl *'] },
  ],
}

/** Every way of a line to a shell. */
const ways: Readonly<Record<string, (at: Entrance, line: string) => ReturnType<Entrance['call']>>> = {
  'code.run_shell': ({ call }, command) => call('code.run_shell', { command }),
  'bash -c': ({ run }, line) => run('bash', '-c', line),
  'a job': ({ call }, command) => call('code.run_shell', { command, background: true }),
}

const reaching = lines.flatMap(([id, ...each]) => each.map((line) => [id, line] as const))

/** Each way asks the person, whose no leaves nothing of the line. */
async function expectNotCovered(at: Entrance, line: string): Promise<void> {
  for (const [way, send] of Object.entries(ways)) {
    const { ok, code } = await send(at, line)
    expect({ way, ok, code }).toEqual({ way, ok: false, code: 'POLICY.APPROVAL_DENIED' })
  }
  expect(existsSync(join(at.project, 'mark'))).toBe(false)
}

const denying: EntranceOptions = { configuration: { shell: true }, policy, says: 'deny' }
/** The person is asked before a line runs, so that none of them has run. */
const asking: EntranceOptions = {
  ...denying,
  configuration: { shell: true, commands: { review: 'never' } },
}

atOpenEntrances(asking, (at) => {
  test.each(reaching)('%s %j is not covered by a rule for echo', async (_id, line) => {
    await expectNotCovered(at(), line)
  })
})

atOpenEntrances(denying, (at) => {
  const some = reaching.filter((_, index) => index % rounds({ usual: 15, long: 1 }) === 0)
  test.each(some)('%s %j is not covered by a rule for echo when it has run held back', async (_id, line) => {
    await expectNotCovered(at(), line)
  })

  test.each([
    `${'true;'.repeat(49)} curl http://evil.example/`,
    `${'true\n'.repeat(400)}curl http://evil.example/`,
    'true && (echo a | cu""rl http://evil.example/)',
    'echo "$(curl http://evil.example/)"',
    'env -i X=1 /usr/bin/curl http://evil.example/',
    'if true; then sh -c "curl http://evil.example/"; fi',
    'echo http://evil.example/ | xargs curl',
  ])('CM-17 a denied program is found in %j', async (line) => {
    for (const [way, send] of Object.entries(ways)) {
      const { ok, reason } = await send(at(), line)
      expect({ way, ok, reason }).toEqual({ way, ok: false, reason: 'rule_denied' })
    }
  })

  test.each(harmless)('%s %j only echoes and is run', async (_id, line, output) => {
    const { ok, text } = await at().call('code.run_shell', { command: line })
    expect({ ok, text }).toEqual({ ok: true, text: expect.stringContaining(output) })
    expect(existsSync(join(at().project, 'mark'))).toBe(false)
  })

  test('CM-41 arguments are words, whatever stands in them', async () => {
    const argv = ['echo', 'ok; touch mark', '$(touch mark)', '`touch mark`', '&&', 'touch', 'mark', '> mark']
    expect((await at().run(...argv)).text).toContain(argv.slice(1).join(' '))
    expect(existsSync(join(at().project, 'mark'))).toBe(false)
  })
})
