import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call, handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { openTerminal } from '../support/terminal.ts'

const own = { 'config.json': { sandbox: 'host' } }

async function write(
  place: Place,
  file: { path: string; content: string },
  more = '',
): Promise<{ id: string; session: string }> {
  const ended = await call(place, `code.write_file --approve once --json${more}`, {
    ...file,
    overwrite: true,
  })
  expect(ended.code, ended.stderr).toBe(0)
  const { call_id: id, metadata } = jsonOf<{ call_id: string; metadata: { session: string } }>(ended)
  return { id, session: metadata.session }
}

const read = (place: Place, path: string) => readFileSync(join(place.project, path), 'utf8')

test('a call is named by its id, its end or as "last"; with --yes nobody is asked, and the diff is shown all the same', async () => {
  const place = makePlace({ 'a.txt': 'one\n' }, own)
  await write(place, { path: 'a.txt', content: 'two\n' })
  const second = await write(place, { path: 'a.txt', content: 'three\n' })
  const ended = await handrail(place, ['undo', 'last', '--yes'])
  expect([ended.code, ended.stdout]).toEqual([
    0,
    'Took back 1 call: 1 path changed.\nChanges a.txt (4 bytes)\n',
  ])
  expect(ended.stderr).toContain(`  | Takes back code.write_file of`)
  expect(ended.stderr).toContain('  | -three\n  | +two\n')
  expect((await handrail(place, ['undo', 'last', '--yes'])).code).toBe(0)
  expect(read(place, 'a.txt')).toBe('one\n')
  const [redo] = jsonOf<{ call: string; tool: string }[]>(
    await handrail(place, ['evidence', 'list', '--json']),
  )
  expect(redo?.tool).toBe('code.undo')
  expect((await handrail(place, ['undo', redo?.call.slice(-8) ?? '', '--yes'])).code).toBe(0)
  expect(read(place, 'a.txt')).toBe('two\n')
  const refused = await handrail(place, ['undo', second.id, '--yes'])
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toContain('nothing_to_undo')
})

test('all calls of a session, or since a time, are taken back as one step', async () => {
  const place = makePlace({ 'a.txt': 'one\n' }, own)
  const first = await write(place, { path: 'a.txt', content: 'two\n' })
  await write(place, { path: 'new/b.txt', content: 'b' })
  expect((await handrail(place, ['undo', '--since', '10m', '--yes'])).code).toBe(0)
  expect(read(place, 'a.txt')).toBe('one\n')
  expect(existsSync(join(place.project, 'new'))).toBe(false)
  const empty = await handrail(place, ['undo', '--session', first.session, '--yes'])
  expect([empty.code, empty.stderr]).toEqual([
    1,
    'handrail: no such call changed files, or they cannot be taken back any more. Nothing was done.\n',
  ])
  const again = await write(place, { path: 'a.txt', content: 'three\n' })
  expect((await handrail(place, ['undo', '--session', again.session.slice(-6), '--yes'])).code).toBe(0)
  expect(read(place, 'a.txt')).toBe('one\n')
})

test('what another project did is not among what was done since a time', async () => {
  const place = makePlace({ 'a.txt': 'one\n' }, own)
  const other = { ...place, project: makePlace().project }
  await write(other, { path: 'x.txt', content: 'x' })
  expect((await handrail(place, ['undo', 'last', '--yes'])).code).toBe(1)
  expect(existsSync(join(other.project, 'x.txt'))).toBe(true)
})

test('the operator takes back what any actor of any tenant did', async () => {
  const place = makePlace({}, own)
  const made = await write(place, { path: 'a.txt', content: 'a' }, ' --actor bob --tenant team')
  expect((await call(place, 'code.undo --approve once --tenant team', { call: made.id })).stderr).toContain(
    'unknown_call',
  )
  expect((await handrail(place, ['undo', made.id, '--yes'])).code).toBe(0)
  expect(existsSync(join(place.project, 'a.txt'))).toBe(false)
})

test('a person at the terminal sees the diff and is asked; a no leaves all as it is', async () => {
  const place = makePlace({ 'a.txt': 'one\n' }, own)
  await write(place, { path: 'a.txt', content: 'two\n' })
  for (const [typed, code, content] of [
    ['no\n', 3, 'two\n'],
    ['yes\n', 0, 'one\n'],
  ] as const) {
    const terminal = openTerminal(place, ['undo', 'last'])
    await terminal.saw('Take it back? yes / no:')
    expect(terminal.screen()).toContain('  | +one')
    terminal.type(typed)
    expect(await terminal.ended).toBe(code)
    expect(read(place, 'a.txt')).toBe(content)
  }
})

test('without a terminal and without --yes nothing is done, and what would be is shown', async () => {
  const place = makePlace({ 'a.txt': 'one\n' }, own)
  await write(place, { path: 'a.txt', content: 'two\n' })
  const ended = await handrail(place, ['undo', 'last'])
  expect(ended.code).toBe(2)
  expect(ended.stderr).toContain('  | +one\n')
  expect(ended.stderr).toContain('Add --yes')
  expect(read(place, 'a.txt')).toBe('two\n')
  for (const argv of [['undo'], ['undo', 'last', '--since', '1h']])
    expect((await handrail(place, argv)).code).toBe(2)
})

test('a deny rule holds for the operator too, and a file that changed since is named', async () => {
  const place = makePlace({ 'a.txt': 'one\n' }, own)
  await write(place, { path: 'a.txt', content: 'two\n' })
  writeFileSync(join(place.project, 'a.txt'), 'person\n')
  const changed = await handrail(place, ['undo', 'last', '--yes'])
  expect([changed.code, changed.stdout]).toEqual([1, ''])
  expect(changed.stderr).toContain('"a.txt" is not as the call')
  writeFileSync(join(place.project, 'a.txt'), 'two\n')
  writeFileSync(
    join(place.home, 'policy.json'),
    JSON.stringify({ rules: [{ effect: 'deny', tools: ['code.undo'] }] }),
  )
  expect((await handrail(place, ['undo', 'last', '--yes'])).code).toBe(3)
  expect(read(place, 'a.txt')).toBe('two\n')
})

test('"undo" of the configuration bounds what is kept, or switches it off', async () => {
  const place = makePlace({ 'a.txt': 'one\n' }, { 'config.json': { sandbox: 'host', undo: false } })
  await write(place, { path: 'a.txt', content: 'two\n' })
  expect(existsSync(join(place.home, 'history'))).toBe(false)
  const wrong = makePlace({}, { 'config.json': { undo: { weeks: 1 } } })
  const { code, stderr } = await handrail(wrong, ['tools'])
  expect([code, stderr.includes('/undo/weeks')]).toEqual([2, true])
})
