import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime, type Runtime } from 'handrail'
import type { Job } from 'handrail/tools'
import { expect, test } from 'vitest'
import { makePlace, onBundle, startProgram } from '../support/command-line.ts'
import { rounds } from '../support/rounds.ts'

const worker = join(import.meta.dirname, 'long-tools-worker.ts')
const kills = rounds({ usual: 2, long: 100 })

test(`over ${kills} kills no job of a long tool is lost, and none begins or ends twice (NEXT-2)`, async () => {
  const place = makePlace()
  const store = join(place.home, 'store.db')
  const works = join(place.home, 'works')
  mkdirSync(works, { recursive: true })
  const start = (...more: string[]) =>
    startProgram(place, [onBundle, worker, place.project, store, works, ...more])
  for (let round = 0; round < kills; round++) {
    const child = start()
    await expect.poll(() => child.output.stdout.length, { interval: 5 }).toBeGreaterThanOrEqual(2)
    await sleep(Math.random() * 40)
    child.child.kill('SIGKILL')
    expect((await child.ended).stderr).toBe('')
  }
  const last = await start('end').ended
  expect([last.code, last.stderr]).toEqual([0, ''])
  const jobs: Job[] = JSON.parse(last.stdout)
  const begun = readdirSync(works).filter((name) => !name.endsWith('.asked'))
  expect(begun.length).toBeGreaterThan(0)
  const runtime = await createRuntime({ project: place.project, store: { path: store }, sandbox: 'host' })
  try {
    const ends = endsOf(runtime)
    // Each that began was asked to its end; each that did not says that it was cut off. Each end is told once.
    for (const job of begun) expect(ends.get(job), job).toEqual(['completed'])
    for (const { id, end } of jobs) expect(ends.get(id), id).toEqual([end?.how])
    expect(
      [...ends.keys()]
        .filter((job) => !begun.includes(job))
        .every((job) => ends.get(job)?.[0] === 'interrupted'),
    ).toBe(true)
  } finally {
    await runtime.close()
  }
})

function endsOf({ store }: Runtime): ReadonlyMap<string, readonly string[]> {
  const ends = new Map<string, string[]>()
  for (const { text } of store.records({ kind: 'note' })) {
    const { event, data } = JSON.parse(text)
    if (event !== 'job_ended') continue
    ends.set(data.job, [...(ends.get(data.job) ?? []), data.how])
  }
  return ends
}
