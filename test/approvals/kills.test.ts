import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makePlace, onBundle, startProgram, type Place } from '../support/command-line.ts'
import { rounds } from '../support/rounds.ts'

const worker = join(import.meta.dirname, 'kill-worker.ts')
const pairs = rounds({ usual: 2, long: 150 })

test(`of ${2 * pairs} processes killed while they ask, decide, run and end, no call is lost or runs twice, and each answer is used once (PERM-3, EVID-1, EVID-7)`, async () => {
  const place = makePlace()
  for (let round = 0; round < pairs; round++) {
    const [agent, person] = [start(place, 'agent'), start(place, 'person')]
    const wanted = 1 + Math.floor(Math.random() * 4)
    await expect
      .poll(() => agent.output.stdout.length + person.output.stdout.length, { interval: 5 })
      .toBeGreaterThanOrEqual(wanted)
    await sleep(Math.random() * 25)
    const order = Math.random() < 0.5 ? [agent, person] : [person, agent]
    order[0]?.child.kill('SIGKILL')
    await sleep(Math.random() * 10)
    order[1]?.child.kill('SIGKILL')
    for (const each of order) expect((await each.ended).stderr).toBe('')
  }
  // The next two go on to the end.
  const person = start(place, 'person')
  const done = readLines(place, 'results').length + 3
  const agent = start(place, 'agent', String(done))
  expect(await agent.ended).toMatchObject({ code: 0, stderr: '' })
  person.child.kill('SIGKILL')
  await person.ended

  const paid = readLines(place, 'paid')
  expect(paid.length).toBe(new Set(paid).size)
  const results = new Map(readLines(place, 'results').map((line) => line.split(' ') as [string, string]))
  expect([...results.keys()].map(Number)).toEqual(Array.from({ length: done }, (_, order) => order))
  for (const [order, outcome] of results) if (outcome === 'ok') expect(paid).toContain(order)
  await expectOneUseEach(place)
}, 900_000)

function start(place: Place, role: 'agent' | 'person', last = '') {
  return startProgram(place, [onBundle, worker, role, place.project, last])
}

function readLines({ project }: Place, name: string): string[] {
  return readFileSync(join(project, name), 'utf8').trimEnd().split('\n')
}

/** Each answer stands in the begin of one call at most, and the chain holds. */
async function expectOneUseEach({ project }: Place): Promise<void> {
  const path = join(project, 'home', 'store.db')
  await using cleanup = new AsyncDisposableStack()
  const runtime = await createRuntime({ project, store: { path } })
  cleanup.defer(() => runtime.close())
  const { store, approvals } = runtime
  const used = [...store.records({ kind: 'begin' })].flatMap(({ text }) => {
    const { approval } = JSON.parse(text) as { approval?: { id?: string } }
    return approval?.id ?? []
  })
  expect(used.length).toBeGreaterThan(0)
  expect(new Set(used).size).toBe(used.length)
  expect(approvals.list()).toEqual([])
  expect(verifyEvidence(store)).toMatchObject({ ok: true })
}
