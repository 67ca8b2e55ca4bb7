import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { makePlace, onBundle, startProgram } from '../support/command-line.ts'
import { rounds } from '../support/rounds.ts'

const program = join(import.meta.dirname, 'killed-program.ts')
const kills = rounds({ usual: 2, long: 40 })

test(`of ${kills} processes killed at any time each program goes on, no call of one is lost and none is made twice (NEXT-5, EVID-1)`, async () => {
  const place = makePlace()
  for (let round = 0; round < kills; round++) {
    const { child, output, ended } = startProgram(place, [onBundle, program, place.project])
    const wanted = 1 + Math.floor(Math.random() * 12)
    await expect.poll(() => output.stdout.length, { interval: 2 }).toBeGreaterThan(wanted)
    await sleep(Math.random() * 8)
    child.kill('SIGKILL')
    expect((await ended).stderr).toBe('')
  }
  const read = (name: string): string[] =>
    readFileSync(join(place.project, name), 'utf8').trimEnd().split('\n')
  const end = Number(readFileSync(join(place.project, 'counted'), 'utf8')) + 2
  const argv = [onBundle, program, place.project, String(end)]
  expect(await startProgram(place, argv).ended).toMatchObject({ code: 0, stderr: '' })
  const lines = read('lines')
  expect(new Set(lines).size).toBe(lines.length)
  // Each program drew its number and read its clock once, however often it went on.
  for (let count = 0; count < end; count++) {
    const own = lines.filter((line) => line.startsWith(`${count} `))
    expect(new Set(own.map((line) => line.split(' ')[2])).size).toBe(1)
    expect(own.length).toBeLessThanOrEqual(3)
  }
  const told = new Map(read('told').map((line) => JSON.parse(line) as [number, string[]]))
  expect(told.size).toBe(end)
  for (const said of told.values()) {
    expect(said).toHaveLength(3)
    // A call that was cut off is told as what it is, whether or not its line is there.
    for (const line of said) if (line.includes(' ')) expect(lines).toContain(line)
  }
  const unknown = [...told.values()].flat().filter((line) => !line.includes(' '))
  expect(unknown.length).toBeLessThanOrEqual(kills)
  expect(lines.length + unknown.length).toBeGreaterThanOrEqual(3 * end)
  const runtime = await createRuntime({
    project: place.project,
    store: { path: join(place.project, 'store.db') },
  })
  atEnd(() => runtime.close())
  expect(runtime.approvals.list()).toEqual([])
  expect(verifyEvidence(runtime.store)).toMatchObject({ ok: true })
}, 900_000)
