import { expect, test } from 'vitest'
import { call, handrail, makePlace, startHandrail, startProgram, program } from '../support/command-line.ts'
import { ctrlC, openTerminal } from '../support/terminal.ts'

const ready = 'handrail: calls are shown as they end; Ctrl-C ends this'

test('--follow shows the last calls, then those of every process as they end, as the filters say, until Ctrl-C (EVID-1)', async () => {
  const place = makePlace({ 'a.txt': 'one\n' })
  const read = (actor: string, tenant = 'local') =>
    call(place, `code.read_file --actor ${actor} --tenant ${tenant}`, { path: 'a.txt' })
  await read('ann')
  await read('bob')
  const all = openTerminal(place, ['evidence', 'list', '-f'])
  const some = openTerminal(place, ['evidence', 'list', '--follow', '--actor', 'ann', '--tool', '*.write_*'])
  await Promise.all([all.saw(ready), some.saw(ready)])
  expect(all.screen()).toMatch(
    / local\/ann {2}code\.read_file\n[^\n]* local\/bob {2}code\.read_file\nhandrail: /,
  )
  expect(some.screen()).toBe(`${ready}\n`)
  // A tenant that the store does not have yet.
  await read('eve', 'acme')
  await all.saw('acme/eve  code.read_file')
  await call(place, 'code.write_file --actor ann', { path: 'b', content: '' })
  await Promise.all([all.saw('local/ann  code.write_file'), some.saw('local/ann  code.write_file')])
  for (const terminal of [all, some]) terminal.type(ctrlC)
  expect(await Promise.all([all.ended, some.ended])).toEqual([0, 0])
  expect(all.screen().match(/ code\./g)).toHaveLength(4)
  expect(some.screen()).toMatch(/^[^\n]*\n[^\n]* denied {3}local\/ann {2}code\.write_file {2}POLICY[^\n]*\n/)
  const verified = await handrail(place, ['evidence', 'verify'])
  expect(verified.code, verified.stdout).toBe(0)
})

test('--follow --json prints a call a line, on a store that is not there yet; SIGTERM ends it too', async () => {
  const place = makePlace({ 'a.txt': 'one\n' })
  const following = startHandrail(place, ['evidence', 'list', '--follow', '--json'])
  await following.saw(ready)
  await call(place, 'code.read_file', { path: 'a.txt' })
  await following.saw('"code.read_file"')
  following.child.kill('SIGTERM')
  const { code, stdout } = await following.ended
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ actor: 'user', tool: 'code.read_file', outcome: 'ok' })
})

test('--follow ends if its reader went away', async () => {
  const place = makePlace({ 'a.txt': 'one\n' })
  const line = `'${process.execPath}' '${program}' evidence list --follow | head -n 1`
  const shell = startProgram(place, ['-c', line], { command: 'sh' })
  await shell.saw(ready)
  await call(place, 'code.read_file', { path: 'a.txt' })
  await shell.saw('code.read_file')
  await call(place, 'code.read_file', { path: 'a.txt' })
  expect((await shell.ended).code).toBe(0)
})

test('--follow refuses what it cannot show', async () => {
  const place = makePlace()
  for (const [argv, message] of [
    [['--follow', '--outcome', 'running'], '--follow shows calls as they end'],
    [['--follow', '--until', '1d'], 'leave out --until, or --follow.'],
    [['--since', '1h', '--until', '1d'], 'give --since a longer time than --until.'],
    [['--follow', '--notes'], 'Notes are of no call: leave out --follow, or --notes.'],
  ] as const) {
    const { code, stderr } = await handrail(place, ['evidence', 'list', ...argv])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
  const nobody = await handrail(place, ['evidence', 'list', '--follow', '--tenant', 'none'])
  expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('no tenant "none"')])
})
