import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ToolFailure } from '../../contract/base/errors.ts'
import { rounds } from '../../../test/support/rounds.ts'
import { canary, openTestSandbox, reasonOf, type TestSandbox } from './open-test-sandbox.fixture.ts'

/** How often each test tries. */
const reads = rounds({ usual: 400, long: 20_000 })
const creates = rounds({ usual: 300, long: 5_000 })
const starts = rounds({ usual: 10, long: 200 })

/**
 * Swaps the directory `d` with a link to the outside, as fast as it can, until it is killed. What was made in the gap between
 * two renames is cleared away.
 */
const swapper = `
  const { renameSync, rmSync } = require('node:fs')
  const tried = (work) => { try { work(); return true } catch { return false } }
  const move = (from, to) => {
    while (!tried(() => renameSync(from, to))) tried(() => rmSync(to, { recursive: true }))
  }
  process.stdout.write('ready')
  for (;;) {
    move('d', 'd.real'); move('d.link', 'd')
    move('d', 'd.link'); move('d.real', 'd')
  }`

async function whileSwapping(place: TestSandbox, work: () => Promise<void>): Promise<void> {
  place.put('d/f', 'inside')
  writeFileSync(join(place.outside, 'f'), canary)
  symlinkSync(place.outside, join(place.project, 'd.link'))
  const child = spawn(process.execPath, ['-e', swapper], {
    cwd: place.project,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  try {
    await work()
    expect(child.exitCode).toBeNull()
  } finally {
    if (child.kill('SIGKILL')) await once(child, 'exit')
  }
}

test('reads nothing outside while a directory is swapped with a link: TOCTOU race (FILE-9)', async () => {
  await using place = openTestSandbox()
  const { files } = place.enter()
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  const isMet = () => seen.has('inside') && seen.has('path_outside_roots')
  await whileSwapping(place, async () => {
    for (let i = 0; i < reads || !isMet(); i++) {
      try {
        count(Buffer.from((await files.read('d/f')).bytes).toString())
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error
        count(error.reason)
      }
      if (i % 100 === 0)
        for (const { path } of (await files.list('.', { recursive: true, limit: 99 })).entries) count(path)
    }
  })
  expect(seen.get(canary)).toBeUndefined()
  expect(seen.get('d/canary.txt')).toBeUndefined()
})

test('creates nothing outside while a directory is swapped with a link: TOCTOU race FS-29', async () => {
  await using place = openTestSandbox()
  const { files } = place.enter()
  const bytes = Buffer.from('x')
  const reasons = new Set<string>()
  await whileSwapping(place, async () => {
    const isMet = () => reasons.has('done') && reasons.has('write_outside_allowed_roots')
    for (let i = 0; i < creates || !isMet(); i++) {
      const path = i % 10 === 0 ? `d/s${i}/n` : `d/n${i}`
      reasons.add(await reasonOf(files.write(path, bytes, { createDirs: i % 10 === 0, expect: 'absent' })))
    }
  })
  expect(readdirSync(place.outside).sort()).toEqual(['canary.txt', 'f'])
})

test('starts no program outside while a directory is swapped with a link: TOCTOU race FS-51', async () => {
  await using place = openTestSandbox()
  const { commands } = place.enter()
  const command = { executable: 'pwd', argv: ['pwd', '-P'], cwd: 'd', timeoutMs: 9000, maxBytes: 999 }
  const { signal } = new AbortController()
  const seen: string[] = []
  await whileSwapping(place, async () => {
    for (let i = 0; i < starts || seen.length === 0; i++) {
      try {
        seen.push((await commands.run({ ...command, signal })).stdout.head)
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error
      }
    }
  })
  expect(seen.length).toBeGreaterThan(0)
  expect(seen.filter((path) => !path.startsWith(place.project))).toEqual([])
})

test('looks again when it writes: a link that is planted after the path was resolved is refused: TOCTOU race FS-32', async () => {
  await using place = openTestSandbox()
  const { files } = place.enter()
  const approved = await files.resolve('later/a.txt', 'write')
  symlinkSync(place.outside, join(place.project, 'later'))
  const work = files.write(approved, Buffer.from('x'), { createDirs: true, expect: 'absent' })
  expect(await reasonOf(work)).toBe('write_outside_allowed_roots')
  expect(readdirSync(place.outside)).toEqual(['canary.txt'])
})

test('makes missing directories in the directory it looked at', async () => {
  await using place = openTestSandbox()
  mkdirSync(join(place.project, 'a'))
  symlinkSync(place.outside, join(place.project, 'a/b'))
  const { files } = place.enter()
  const work = files.write('a/b/c/d.txt', Buffer.from('x'), { createDirs: true, expect: 'absent' })
  expect(await reasonOf(work)).toBe('write_outside_allowed_roots')
  expect(readdirSync(place.outside)).toEqual(['canary.txt'])
})
