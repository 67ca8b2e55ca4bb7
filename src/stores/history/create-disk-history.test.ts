import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, expect, test } from 'vitest'
import type { PathEffect, PathState } from '../../contract/base/effects.ts'
import { fileDigest } from '../../kit/json/digest.ts'
import { newId } from '../../kit/new-id.ts'
import { createDiskHistory, type DiskHistoryOptions } from './create-disk-history.ts'

const day = 24 * 60 * 60 * 1000
const start = Date.UTC(2026, 10, 1)

function place() {
  const dir = join(mkdtempSync(join(tmpdir(), 'handrail-history-')), 'history')
  onTestFinished(() => rmSync(join(dir, '..'), { recursive: true, force: true }))
  const history = (options: Partial<DiskHistoryOptions> = {}) =>
    createDiskHistory({ dir, days: 7, bytes: 1_000_000, callBytes: 1_000, now: () => start, ...options })
  return { dir, history }
}

const call = (at = start, tenant = 'local') => ({
  call: newId('call', at),
  tool: 'code.write_file',
  session: 'ses_1',
  tenant,
  actor: 'user',
  project: '/project',
  at,
})

const file = (text: string): Extract<PathState, { kind: 'file' }> => ({
  kind: 'file',
  mode: 0o644,
  bytes: Buffer.byteLength(text),
  digest: fileDigest(text),
})

const removed = (text: string): PathEffect => ({
  path: '/project/a',
  before: file(text),
  after: { kind: 'none' },
})

const given = (text: string) => ({
  ...file(text),
  async *open() {
    yield Buffer.from(text)
  },
})

async function readAll(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all).toString()
}

const filesIn = (dir: string) =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(dir, name)).isFile())

test('a content is kept once, and all of it for its owner only', async () => {
  const { dir, history } = place()
  const opened = history()
  for (let round = 0; round < 2; round++) {
    const recorded = opened.open(call(start + round))
    expect(await recorded.keep(given('same'))).toBe(true)
    await recorded.record([removed('same')])
  }
  expect(filesIn(dir).filter((name) => name.includes('content'))).toHaveLength(1)
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    const stat = statSync(join(dir, name))
    expect(stat.mode & 0o777, name).toBe(stat.isFile() ? 0o600 : 0o700)
  }
  expect(await readAll(opened.read('local', fileDigest('same')))).toBe('same')
  expect(await opened.list({ tenant: 'local' })).toMatchObject([{ at: start + 1 }, { at: start }])
  expect(await opened.list({ tenant: 'other' })).toEqual([])
  expect(await opened.has('other', fileDigest('same'))).toBe(false)
})

test('nothing is written for a call that changes nothing', async () => {
  const { dir, history } = place()
  const opened = history()
  await opened.open(call()).record([])
  await opened.close()
  expect(() => readdirSync(dir)).toThrow('ENOENT')
})

test('what is not what its digest says is not kept, and nothing of it stays', async () => {
  const { dir, history } = place()
  const opened = history()
  const recorded = opened.open(call())
  await expect(recorded.keep({ ...given('other'), digest: fileDigest('one') })).rejects.toMatchObject({
    reason: 'stale_preview',
  })
  expect(filesIn(dir)).toEqual([])
})

test('a content that was changed or removed on the disk is not given out', async () => {
  const { dir, history } = place()
  const opened = history()
  const recorded = opened.open(call())
  await recorded.keep(given('true'))
  const [path = ''] = filesIn(dir)
  writeFileSync(join(dir, path), 'fals')
  await expect(readAll(opened.read('local', fileDigest('true')))).rejects.toMatchObject({
    reason: 'not_kept',
  })
  rmSync(join(dir, path))
  await expect(readAll(opened.read('local', fileDigest('true')))).rejects.toMatchObject({
    reason: 'not_kept',
  })
})

test('a call keeps no more than its bound, and its record says what it did not keep', async () => {
  const { history } = place()
  const opened = history({ callBytes: 10 })
  const recorded = opened.open(call())
  expect(await recorded.keep(given('12345678'))).toBe(true)
  expect(await recorded.keep(given('abc'))).toBe(false)
  await recorded.record([removed('abc')])
  expect(await opened.list({ tenant: 'local' })).toMatchObject([{ unkept: [fileDigest('abc')] }])
})

test('the oldest calls make room for new ones, over all tenants', async () => {
  const { history } = place()
  const opened = history({ bytes: 10 })
  const keep = async (text: string, at: number, tenant: string) => {
    const recorded = opened.open(call(at, tenant))
    const kept = await recorded.keep(given(text))
    await recorded.record([removed(text)])
    return kept
  }
  expect(await keep('first', start, 'one')).toBe(true)
  expect(await keep('again', start + 1, 'two')).toBe(true)
  expect(await keep('more', start + 2, 'one')).toBe(true)
  expect(await opened.list({ tenant: 'one' })).toMatchObject([{ at: start + 2 }])
  expect(await opened.has('one', fileDigest('first'))).toBe(false)
  expect(await opened.has('two', fileDigest('again'))).toBe(true)
  expect(await keep('more than there is room for', start + 3, 'one')).toBe(false)
})

test('what is too old is gone at the next start, with what no other call needs', async () => {
  const { dir, history } = place()
  const first = history()
  const ages = [
    ['old', start, ['both', 'old']],
    ['new', start + 5 * day, ['both']],
  ] as const
  for (const [, at, texts] of ages) {
    const recorded = first.open(call(at))
    for (const text of texts) await recorded.keep(given(text))
    await recorded.record(texts.map(removed))
  }
  await first.close()
  const longAgo = new Date(Date.now() - day)
  for (const name of filesIn(dir)) utimesSync(join(dir, name), longAgo, longAgo)
  const later = history({ now: () => start + 8 * day })
  await later.close()
  expect(await later.list({ tenant: 'local' })).toMatchObject([{ at: start + 5 * day }])
  expect(await later.has('local', fileDigest('both'))).toBe(true)
  expect(await later.has('local', fileDigest('old'))).toBe(false)
})

test('what was cut off at the end of a record does not count; what is damaged inside hides the call', async () => {
  const { dir, history } = place()
  const opened = history()
  const recorded = opened.open(call())
  await recorded.record([removed('a')])
  const [name = ''] = filesIn(dir)
  appendFileSync(join(dir, name), '{"effects":[{"path":')
  expect(await opened.list({ tenant: 'local' })).toMatchObject([{ effects: [removed('a')] }])
  appendFileSync(join(dir, name), '\n')
  expect(await opened.list({ tenant: 'local' })).toEqual([])
  expect(readFileSync(join(dir, name), 'utf8')).toContain('"unkept"')
})

test('a folder that cannot be made fails as history_failed', async () => {
  const { dir, history } = place()
  writeFileSync(dir, 'a file in its place')
  await expect(
    history()
      .open(call())
      .record([removed('a')]),
  ).rejects.toMatchObject({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'history_failed',
  })
})

test('what was made before a session was opened is left out where its calls are asked for', async () => {
  const { history } = place()
  const opened = history()
  for (const at of [start, start + 2]) await opened.open(call(at)).record([removed('a')])
  const after = newId('ses', start + 1)
  expect(await opened.list({ tenant: 'local', after })).toMatchObject([{ at: start + 2 }])
})
