import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace, program, startProgram } from '../support/command-line.ts'

interface Listed {
  readonly call: string
  readonly session: string
}

test('a call and a session are named by the end of their id, or as "last", wherever one is named', async () => {
  const place = makePlace({ 'a.txt': 'a\n' })
  await handrail(place, ['call', 'code.read_file', 'path=a.txt'])
  await handrail(place, ['call', 'code.glob', 'pattern=*'])
  const listed = jsonOf<readonly Listed[]>(await handrail(place, ['evidence', 'list', '--json']))
  const [last, first] = listed
  const end = (id = ''): string => id.slice(-8)
  const said = async (...argv: string[]) => {
    const { code, stdout, stderr } = await handrail(place, ['evidence', ...argv])
    return `${code} ${stdout}${stderr}`
  }
  expect(await said('show', end(first?.call))).toContain(` ${first?.call ?? '-'}\n`)
  expect(await said('replay', 'last')).toContain(`${last?.session ?? '-'}: 1 of 1 call replayed`)
  expect(await said('replay', end(first?.session))).toContain(
    `${first?.session ?? '-'}: 1 of 1 call replayed`,
  )
  expect(await said('list', '--session', 'last')).toMatch(/^0 \S+ {2}call_\w+ {2}ok {7}code\.glob\n1 call\n$/)
  expect(await said('export', '--session', 'last')).toContain(last?.call)
  expect(await said('rebuild-archive', '--session', 'last')).toContain('Written again: 1 call of 1 session.')
  expect(await said('resolve', 'last', '--outcome', 'happened')).toContain(
    `1 handrail: The outcome of the call "${last?.call ?? '-'}" is known: ok.`,
  )
  for (const verb of [['list'], ['export'], ['rebuild-archive']])
    expect(await said(...verb, '--session', 'nope')).toContain('1 handrail: the store has no session "nope".')
})

test('a refusal says what a person can type about it, a deprecated tool that it goes, and a yes who gave it', async () => {
  const place = makePlace({ 'a.txt': 'a\n' })
  const said = async (...argv: string[]) => (await handrail(place, argv)).stderr
  expect(await said('call', 'refund')).toContain(
    'There is no tool "refund" here. "handrail tools" lists them.\n',
  )
  expect(await said('call', 'code.read_file')).toContain(
    '\nhandrail: "handrail tools show code.read_file" names the fields\n',
  )
  await handrail(place, ['tools', 'pause', 'code.glob'])
  expect(await said('call', 'code.glob', 'pattern=*')).toContain(
    '\nhandrail: "handrail tools enable code.glob" lets it be called again\n',
  )
  await handrail(place, ['tools', 'deprecate', 'code.glob', '--reason', 'Use code.search.'])
  expect(await said('call', 'code.glob', 'pattern=*')).toBe(
    'handrail: "code.glob" is deprecated. Use code.search.\n',
  )
  expect(await said('tools', 'code.read_file')).toContain('To see it: handrail tools show code.read_file\n')
  await handrail(place, ['call', 'code.write_file', 'path=b.txt', 'content=b', '--approve', 'once'])
  const { stdout } = await handrail(place, ['explain', '--call', 'last'])
  expect(stdout).toMatch(/ answer +allow_once by command line, to the preview /)
})

test('files that cannot be used are told in words, on one line', async () => {
  const place = makePlace({ 'a.txt': 'one\ntwo\n' })
  for (const [argv, message] of [
    [
      ['evidence', 'verify', '--file', 'none'],
      'The file "none" cannot be read: there is no such file or folder.',
    ],
    [['evidence', 'export', '--out', 'a.txt'], 'The file "a.txt" cannot be written: it is there already.'],
    [
      ['policy', 'check', 'a.txt'],
      'a.txt#: The file is not valid JSON at line 1, column 1: expected a value, texts in double quotes. Mend',
    ],
    [
      ['call', 'code.read_file', '@a.txt'],
      '"a.txt" is not valid JSON at line 1, column 1: expected a value, texts in double quotes. Write',
    ],
  ] as const) {
    const { code, stderr } = await handrail(place, argv)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
})

test('of tool files that are left out each command says which, and "tools check" what is wrong with each', async () => {
  const declared = { description: 'Says the time.', permission: 'readonly' }
  const place = makePlace(
    {},
    {
      'tools/broken.json': '{',
      'tools/odd.json': { name: 'flat' },
      'tools/date.json': { name: 'my.date', ...declared, command: './date.sh' },
      'tools/echo.json': { name: 'my.echo', ...declared, command: 'echo', args: ['hi'] },
      'tools/date.sh': '#!/bin/sh\ndate\n',
    },
  )
  const called = await handrail(place, ['call', 'my.date'])
  expect(called.stderr.match(/left out/g)).toHaveLength(1)
  expect(called.stderr).toContain(
    'are left out, the others are not: broken.json, odd.json. "handrail tools check" says what is wrong with each.\n',
  )
  const script = join(place.home, 'tools', 'date.sh')
  const advice = `The program "${script}" may not be executed. Allow it: chmod +x ${script}`
  expect(called.stderr).toContain(`"my.date" cannot run: ${advice}`)
  const checked = await handrail(place, ['tools', 'check'])
  expect(checked.stdout).toContain(`date.json: 1 issue\n  /command: ${advice}\n`)
  expect(checked.stdout).toContain('odd.json: ')
  const echoed = await handrail(place, ['call', 'my.echo'])
  expect(echoed.stderr).toContain('the operator can declare "output": "text"')
})

test('a home that may not be entered is told as that', async () => {
  const place = makePlace()
  mkdirSync(place.home, { mode: 0 })
  // Root may enter everything.
  const other = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath]
  const asUser = process.getuid?.() === 0 ? { command: 'setpriv', before: other } : { before: [] }
  const argv = [...asUser.before, program, 'evidence', 'list']
  const { code, stderr } = await startProgram(place, argv, asUser).ended
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('Mend them, or name another one with HANDRAIL_HOME'),
  ])
})
