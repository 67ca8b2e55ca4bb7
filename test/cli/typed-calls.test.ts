import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call, handrail, jsonOf, makePlace, program, startProgram } from '../support/command-line.ts'
import { openTerminal } from '../support/terminal.ts'

const lines = 'one\ntwo\nthree\n'

test('fields are typed without JSON, each read as what the tool takes', async () => {
  const place = makePlace({ 'a.txt': lines, '7': 'seven\n' })
  const said = async (...argv: string[]) => (await handrail(place, ['call', ...argv])).stdout
  expect(await said('code.read_file', 'path=a.txt', 'max_lines=1', 'start_line=2')).toContain('2\ttwo\n')
  expect(await said('code.read_file', 'path=7')).toBe('1\tseven\n')
  expect(await said('Read', 'file_path=a.txt', 'limit=1', '--presentation', 'compatible')).toMatch(/one/)
  const argv = ['argv=printf', 'argv=%s|', 'argv=a=b', 'argv=[', 'argv=7']
  expect(await said('code.run_command', ...argv, '--approve', 'once')).toContain('a=b|[|7|')
  expect(await said('code.run_command', 'argv=["echo", "1"]', '--approve', 'once')).toMatch(/\n1\n$/)
  const odd = await handrail(place, ['explain', 'code.read_file', 'path=a.txt', 'max_lines=x'])
  expect([odd.code, odd.stdout]).toEqual([1, expect.stringContaining('/max_lines')])
})

test('an input comes from a file too, and what is none is bad usage', async () => {
  const place = makePlace({ 'a.txt': lines, 'input.json': '{"path": "a.txt"}', 'list.json': '[]' })
  expect((await handrail(place, ['call', 'code.read_file', '@input.json'])).stdout).toContain('1\tone')
  for (const [words, message] of [
    [['@none.json'], 'The file "none.json" cannot be read: there is no such file or folder.'],
    [['@list.json'], '"list.json" is JSON, but not an object.'],
    [['a.txt'], '"a.txt" is not <field>=<value>. Write <field>=<value>, or one JSON object'],
    [['path=a.txt', 'b'], '"b" is not <field>=<value>.'],
    [['path=a.txt', 'path=b'], '"path" is given twice, and takes one value.'],
    [['"a.txt"'], 'The input is JSON, but not an object.'],
  ] as const) {
    const { code, stdout, stderr } = await handrail(place, ['call', 'code.read_file', ...words])
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
  }
})

test('the value of a field comes from a file or from standard input, as it is there', async () => {
  const text = '# "Notes"\n\n  7\n'
  const place = makePlace({ 'in.md': text, 'argv.json': '["printf", "%s|", "@a"]', 'bad.bin': '' })
  writeFileSync(join(place.project, 'bad.bin'), Buffer.from([0xff, 0x41]))
  const write = async (path: string, content: string, input = '') => {
    const argv = ['call', 'code.write_file', `path=${path}`, `content=${content}`, '--approve', 'once']
    const { code, stderr } = await handrail(place, argv, { input })
    expect(code, stderr).toBe(0)
    return readFileSync(join(place.project, path), 'utf8')
  }
  expect(await write('a', '@in.md')).toBe(text)
  expect(await write('b', '@-', text)).toBe(text)
  expect(await write('c', '@@in.md')).toBe('@in.md')
  expect(await write('d', '-')).toBe('-')
  const ran = await handrail(place, ['call', 'code.run_command', 'argv=@argv.json', '--approve', 'once'])
  expect(ran.stdout).toContain('@a|')
  const explained = await handrail(place, ['explain', 'code.write_file', 'path=e', 'content=@in.md'])
  expect(explained.stdout).toContain('+# "Notes"')
  for (const [words, message] of [
    [
      ['path=e', 'content=@none'],
      '"content": The file "none" cannot be read: there is no such file or folder. If that was meant as text, write content=@@none\n',
    ],
    [
      ['path=e', 'content=@bad.bin'],
      '"content": The file "bad.bin" cannot be used. The file is not UTF-8 (line 1).',
    ],
    [['path=@-', 'content=@-'], 'Standard input is the value of one field only'],
  ] as const) {
    const { code, stdout, stderr } = await handrail(place, ['call', 'code.write_file', ...words])
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
  }
  expect(existsSync(join(place.project, 'e'))).toBe(false)
})

test('with JSON on standard input a person at the terminal is asked all the same (PERM-3)', async () => {
  const place = makePlace()
  const line = `echo '{"path": "a.txt", "content": "x"}' | '${process.execPath}' '${program}' call code.write_file -`
  const shell = startProgram(place, ['-q', '-e', '-c', line, '/dev/null'], { command: 'script' })
  await shell.saw('Allow? yes / no: ')
  shell.child.stdin.write('yes\n')
  expect((await shell.ended).code).toBe(0)
  expect(existsSync(join(place.project, 'a.txt'))).toBe(true)
  const alone = await handrail(place, ['call', 'code.write_file', '-'], {
    input: '{"path": "b", "content": ""}',
  })
  expect([alone.code, existsSync(join(place.project, 'b'))]).toEqual([3, false])
})

test('--approve deny denies although a consent stands, and a replay says the same (PERM-5, EVID-3)', async () => {
  const place = makePlace()
  await handrail(place, ['consent', 'give', 'code.write_file', '--for', '2h'])
  const write = { path: 'a.txt', content: 'x' }
  const denied = await call(place, 'code.write_file --approve deny', write)
  expect([denied.code, denied.stdout, existsSync(join(place.project, 'a.txt'))]).toEqual([3, '', false])
  expect(denied.stderr).toBe(
    'POLICY.APPROVAL_DENIED (denied): "code.write_file" was denied. Nothing was done.\n',
  )
  const explained = await handrail(place, ['explain', '--call', 'last'])
  expect(explained.stdout).toContain('decision    ask by defaults/write')
  expect(explained.stdout).toContain('Now, under the same policy, the same is decided.')
  const [listed] = jsonOf<{ session: string }[]>(await handrail(place, ['evidence', 'list', '--json']))
  const replayed = await handrail(place, ['evidence', 'replay', listed?.session ?? ''])
  expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining('No divergence.')])
  const both = await call(place, 'code.write_file --approve deny --consent c', write)
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('leave out --consent')])
  expect((await call(place, 'code.write_file', write)).code).toBe(0)
})

test('where nobody can be asked the person reads how to say yes, and no advice for a model', async () => {
  const { code, stderr } = await call(makePlace(), 'code.write_file', { path: 'a', content: '' })
  expect(code).toBe(3)
  expect(stderr).toContain('handrail consent give code.write_file')
  expect(stderr).toContain(
    'handrail: a person can say yes at a terminal, or beforehand with --approve once\n',
  )
  expect(stderr).not.toContain('ask what they want')
})

test('a long preview names what is asked once more above the question, and Ctrl-D ends its line', async () => {
  const place = makePlace()
  const content = 'line\n'.repeat(40)
  const terminal = openTerminal(place, ['call', 'code.write_file', 'path=big.txt', `content=${content}`])
  await terminal.saw('Allow? yes / no: ')
  expect(terminal.screen()).toMatch(/\ncode\.write_file: .*big\.txt.*\nAllow\? yes \/ no: $/)
  expect(terminal.raw()).toContain('\u001b[32m  | +line')
  terminal.type('\x04')
  expect(await terminal.ended).toBe(3)
  expect(terminal.screen()).toContain('Allow? yes / no: \nPOLICY.APPROVAL_DENIED (denied)')
  const plain = openTerminal(place, ['call', 'code.write_file', 'path=b', 'content=x'], {
    env: { NO_COLOR: '1' },
  })
  await plain.saw('Allow? yes / no: ')
  expect(plain.raw()).not.toContain('\u001b[32m')
  plain.type('no\n')
  expect(await plain.ended).toBe(3)
})

test('a person sees what a command prints as it comes, and each line once', async () => {
  const place = makePlace()
  const script = 'echo begun; until [ -e go ]; do sleep 0.02; done; echo done'
  const argv = ['call', 'code.run_command', 'argv=sh', 'argv=-c', `argv=${script}`, '--approve', 'once']
  const terminal = openTerminal(place, argv)
  await terminal.saw('begun\r\n')
  writeFileSync(join(place.project, 'go'), '')
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).toMatch(/^begun\ndone\n\[exit code 0 after [^\n]*\]\n$/)
})

test('one tool is shown with its fields, and a call that can be pasted', async () => {
  const place = makePlace({ PATH: lines })
  const shown = await handrail(place, ['tools', 'show', 'code.read_file'])
  expect(shown.code).toBe(0)
  for (const text of [
    /^code\.read_file – Read file\n/,
    /\nreadonly, side effect read, safety low, at most 30 s\n/,
    /\n {2}path\* +string +Relative to the project root, or absolute\.\n/,
    /\n {2}max_lines +integer +Default: 200\. From 1 to 1000\.\n/,
  ])
    expect(shown.stdout).toMatch(text)
  const line = shown.stdout.trimEnd().split('\n').at(-1)?.trim().split(' ').slice(1) ?? []
  expect((await handrail(place, line)).stdout).toContain('1\tone')
  const compatible = await handrail(place, ['tools', 'show', 'Read', '--presentation', 'compatible'])
  expect(compatible.stdout).toMatch(
    /\n {2}file_path\* [^]*\n {2}handrail call Read file_path=FILE_PATH --presentation compatible\n$/,
  )
  const json = jsonOf(await handrail(place, ['tools', 'show', 'code.read_file', '--json']))
  expect(json).toMatchObject({ tool: 'code.read_file', permission: 'readonly', input_schema: {} })
  const missing = await handrail(place, ['tools', 'show', 'code.raed_file'])
  expect([missing.code, missing.stderr]).toEqual([
    1,
    expect.stringContaining('Did you mean "code.read_file"'),
  ])
})

test('calls are found by who made them, by tool, outcome and age, and named by the end of their id (EVID-1)', async () => {
  const place = makePlace({ 'a.txt': lines })
  for (const actor of ['ann', 'bob'])
    await handrail(place, ['call', 'code.read_file', 'path=a.txt', '--actor', actor])
  await call(place, 'code.write_file --actor ann', { path: 'b', content: '' })
  const list = async (...argv: string[]) => (await handrail(place, ['evidence', 'list', ...argv])).stdout
  expect(await list()).toMatch(
    / denied {3}local\/ann {2}code\.write_file [^\n]*\n.* ok {7}local\/bob {2}code\.read_file\n.*local\/ann/,
  )
  expect(await list('--actor', 'bob')).toMatch(/^[^\n]* ok {7}code\.read_file\n1 call\n$/)
  expect(await list('--tool', '*.write_*', '--outcome', 'denied', '--since', '1h')).toMatch(/\n1 call\n$/)
  expect(await list('--outcome', 'running')).toBe('0 calls\n')
  expect(await list('--until', '1h')).toBe('0 calls\n')
  expect(await list('--until', '1ms')).toBe(await list())
  expect(jsonOf(await handrail(place, ['evidence', 'list', '--json', '--limit', '1']))).toMatchObject([
    { actor: 'ann', role: 'main', outcome: 'denied' },
  ])
  const id = /call_\w+/.exec(await list('--actor', 'bob'))?.[0] ?? ''
  const last = await handrail(place, ['evidence', 'show', id.slice(-6)])
  expect(last.stdout).toContain(`call            ${id}`)
  const newest = await handrail(place, ['explain', '--call', 'last'])
  expect(newest.stdout).toMatch(/^call_\w+ code\.write_file\n/)
  const notes = await handrail(place, ['evidence', 'list', '--notes', '--tool', 'x'])
  expect([notes.code, notes.stderr]).toEqual([2, expect.stringContaining('leave out --tool')])
})
