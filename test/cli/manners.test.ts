import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  expectNoStack,
  handrail,
  makePlace,
  packageRoot,
  program,
  startProgram,
} from '../support/command-line.ts'

const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }

test('help names every command, every exit code, and where home and project come from', async () => {
  const place = makePlace()
  const { code, stdout, stderr } = await handrail(place, ['help'])
  expect([code, stderr]).toEqual([0, ''])
  for (const word of ['tools', 'call', 'explain', 'evidence', 'serve'])
    expect(stdout).toContain(`\n  ${word} `)
  expect(stdout.replaceAll('\n', ' ')).toContain(
    'Exit codes: 0 ok, 1 tool error, 2 bad usage or configuration, 3 denied, 4 waits for a person, 5 turns or budget used up, 130 ended by Ctrl-C.',
  )
  expect(stdout).toContain('HANDRAIL_PROJECT')
  expect(stdout).toContain('HANDRAIL_HOME')
  expect((await handrail(place, ['--help'])).stdout).toBe(stdout)
  const nothing = await handrail(place, [])
  expect([nothing.code, nothing.stdout, nothing.stderr]).toEqual([2, '', stdout])
})

test('a command says how it is used, and does nothing else', async () => {
  const place = makePlace()
  const shown = await handrail(place, ['call', 'code.write_file', '{"path": "x"}', '--help'])
  expect(shown.code).toBe(0)
  expect(shown.stdout).toMatch(/^handrail call <tool> /)
  for (const line of [
    '  --approve once|deny ',
    '  --key KEY ',
    '  --role ROLE ',
    '  -h, --help ',
    '\nExamples:\n  handrail call ',
  ])
    expect(shown.stdout).toContain(line)
  expect((await handrail(place, ['help', 'call'])).stdout).toBe(shown.stdout)
  const group = await handrail(place, ['evidence', '--help'])
  for (const line of ['\n  list ', '\n  show <call> ', '\n  rotate-key '])
    expect(group.stdout).toContain(line)
  expect((await handrail(place, ['help', 'evidence'])).stdout).toBe(group.stdout)
  const verb = await handrail(place, ['evidence', 'resolve', '--help'])
  expect(verb.stdout).toMatch(/^handrail evidence resolve <call>\n[^]* --outcome happened\|not-happened /)
  expect((await handrail(place, ['help', 'evidence', 'resolve'])).stdout).toBe(verb.stdout)
})

test('help fits the width of the terminal, and breaks no word', async () => {
  const place = makePlace()
  const line = `stty cols 44; exec '${process.execPath}' '${program}' help call`
  const { ended } = startProgram(place, ['-q', '-e', '-c', line, '/dev/null'], { command: 'script' })
  const { stdout } = await ended
  const lines = stdout.replaceAll('\r', '').split('\n')
  const page = lines.slice(0, lines.indexOf('Examples:'))
  expect(Math.max(...page.map((each) => each.length))).toBeLessThanOrEqual(44)
  expect(page.join(' ').replaceAll(/ +/g, ' ')).toContain(
    'An idempotency key: the same call with the same key is made once.',
  )
})

test('--version is the version of the package', async () => {
  for (const word of ['--version', 'version']) {
    const { code, stdout } = await handrail(makePlace(), [word])
    expect([code, stdout]).toEqual([0, `${version}\n`])
  }
})

test.each<[string, string[], RegExp]>([
  ['an unknown command', ['tolls'], /invalid_usage: There is no command "tolls"\. Did you mean "tools"\?/],
  [
    'an option before the command',
    ['--project', '.', 'tools'],
    /invalid_usage: "--project" stands before any command\. Write the command first/,
  ],
  ['a command named like a property', ['constructor'], /invalid_usage: There is no command "constructor"/],
  ['an unknown option', ['tools', '--jsn'], /invalid_usage: .*--jsn.*Did you mean "--json"\?/],
  ['an option without its value', ['call', 'x', '--key'], /invalid_usage: .*--key.*argument missing/],
  ['a value for a flag', ['tools', '--json=yes'], /invalid_usage: .*--json.*does not take an argument/],
  [
    'an unknown role',
    ['tools', '--role', 'boss'],
    /invalid_usage: --role is "boss"; it can be main, orchest/,
  ],
  [
    'an unknown presentation',
    ['tools', '--presentation', 'round'],
    /invalid_usage: --presentation is "round"; it can be canonical, co/,
  ],
  [
    'an unknown mode',
    ['explain', 'x', '--mode', 'x'],
    /invalid_usage: --mode is "x"; it can be default, plan/,
  ],
  [
    'an unknown answer',
    ['call', 'x', '--approve', 'y'],
    /invalid_usage: --approve is "y"; it can be once, deny/,
  ],
  ['an empty key', ['call', 'x', '{}', '--key', ''], /invalid_usage: --key needs a value/],
  ['an empty project', ['tools', '--project', ''], /invalid_usage: --project needs the path/],
  ['no tool', ['call'], /invalid_usage: Name a tool/],
  ['no tool to explain', ['explain'], /invalid_usage: Name a tool/],
  [
    'JSON that the shell took apart',
    ['call', 'x', '{path:', 'a}'],
    /invalid_usage: "a}" is one argument too/,
  ],
  ['no verb of tools', ['tools', 'code'], /invalid_usage: There is no "tools code"/],
  ['too much for tools', ['tools', 'pause', 'a.b', 'c.d'], /invalid_usage: "c.d" is one argument too many/],
  ['no tool to pause', ['tools', 'pause'], /invalid_usage: Name the tool/],
  ['an option of another verb', ['tools', 'pause', 'a.b', '--tag', 'x'], /takes no --tag/],
  ['no verb', ['evidence'], /invalid_usage: Say what to do/],
  ['an unknown verb', ['evidence', 'constructor'], /invalid_usage: There is no "evidence constructor"/],
  ['list, if another verb lists', ['mcp', 'list'], /There is no "mcp list"\. Did you mean "status"\?/],
  ['try without a program', ['try'], /Usage: handrail try \[options\] -- <program> \[argument …\]\n/],
  ['no call to show', ['evidence', 'show'], /invalid_usage: Name a call/],
  ['a limit that is none', ['evidence', 'list', '--limit', '0'], /invalid_usage: --limit is "0"/],
  ['a port that is none', ['serve', '--port', '70000'], /invalid_usage: The port is "70000"/],
])('%s is bad usage: exit code 2 and one message that says how it is right', async (_, argv, message) => {
  const place = makePlace()
  const { code, stdout, stderr } = await handrail(place, argv)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(message)
})

test('a reader that goes away before the output changes nothing: no stack, and the call ends as it ended', async () => {
  const place = makePlace()
  const argv = `call code.write_file '{"path":"a.txt","content":"a"}' --approve once`
  const line = `{ "${process.execPath}" "${program}" ${argv}; echo "ended with $?" >&2; } | true`
  const { ended } = startProgram(place, ['-c', line], { command: 'sh' })
  expect((await ended).stderr).toBe('ended with 0\n')
  expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('a')
})

test('output that cannot be written is said, and what was done stays done', async () => {
  const place = makePlace()
  const line = `"${process.execPath}" "${program}" call code.write_file '{"path":"a.txt","content":"a"}' --approve once >/dev/full`
  const { ended } = startProgram(place, ['-c', line], { command: 'sh' })
  const result = await ended
  expectNoStack(result)
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('handrail: output_failed: ')
  expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('a')
})

test('home and project come from the option, then the environment, then ~/.handrail and the current folder', async () => {
  const place = makePlace({ 'a.txt': 'current folder' })
  const other = makePlace({ 'a.txt': 'environment' }, { 'policy.json': {} })
  const third = makePlace({ 'a.txt': 'option' })
  const read = ['call', 'code.read_file', '{"path": "a.txt"}']
  const env = { HANDRAIL_PROJECT: other.project, HANDRAIL_HOME: other.home }
  expect((await handrail(place, read)).stdout).toContain('current folder')
  expect((await handrail(place, read, { env })).stdout).toContain('environment')
  const options = ['--project', third.project, '--home', third.home]
  expect((await handrail(place, [...read, ...options], { env })).stdout).toContain('option')
  expect(
    (await handrail(place, read, { env: { HANDRAIL_PROJECT: '', HANDRAIL_HOME: '' } })).stdout,
  ).toContain('current folder')
  const counts = await Promise.all(
    [place, other, third].map(
      async (each) => / of \d+ calls?\./.exec((await handrail(each, ['evidence', 'verify'])).stdout)?.[0],
    ),
  )
  expect(counts).toEqual([' of 2 calls.', ' of 1 call.', ' of 1 call.'])
})

test('under npm the project is the folder where npm was called', async () => {
  const place = makePlace({ 'a.txt': 'where the person stands' })
  const elsewhere = join(place.user, 'package')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'a.txt'), 'where the package lies')
  const { stdout } = await handrail(place, ['call', 'code.read_file', '{"path": "a.txt"}'], {
    cwd: elsewhere,
    env: { npm_lifecycle_event: 'handrail', INIT_CWD: place.project },
  })
  expect(stdout).toContain('where the person stands')
})
