import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makePlace, onBundle, startProgram, type Place } from '../support/command-line.ts'
import { rounds } from '../support/rounds.ts'

const program = join(import.meta.dirname, 'schedule-runner.ts')
const kills = rounds({ usual: 2, long: 100 })

test(`of ${kills} pairs of processes that run schedules and are killed at any time, no run is lost and none is made twice (BI-5, EVID-1)`, async () => {
  const place = makePlace()
  const began = Date.now()
  for (let round = 0; round < kills; round++) {
    const pair = [start(place, began)]
    // The first one makes the schedules.
    if (round > 0) pair.push(start(place, began))
    const wanted = Math.floor(Math.random() * 8)
    const count = () => pair.reduce((sum, { output }) => sum + output.stdout.length, 0)
    await expect.poll(count, { interval: 2 }).toBeGreaterThan(wanted)
    await sleep(Math.random() * 10)
    for (const { child } of pair) child.kill('SIGKILL')
    for (const { ended } of pair) expect((await ended).stderr).toBe('')
  }
  expect(await start(place, began, '1').ended).toMatchObject({ code: 0, stderr: '' })

  await using cleanup = new AsyncDisposableStack()
  const runtime = await createRuntime({
    project: place.project,
    store: { path: join(place.project, 'store.db') },
  })
  cleanup.defer(() => runtime.close())
  const lines = readFileSync(join(place.project, 'lines'), 'utf8').trimEnd().split('\n')
  expect(new Set(lines).size).toBe(lines.length)
  const begun = [...runtime.store.records({ kind: 'begin' })]
    .map(({ text }) => JSON.parse(text) as { tool: string; toolCallId?: string; call: string })
    .filter(({ tool }) => tool === 'demo.note')
  const ids = begun.map(({ toolCallId = '' }) => toolCallId)
  expect(new Set(ids).size).toBe(ids.length)
  // Each run that was claimed has begun its call, whatever process did.
  const schedules = runtime.schedules.list()
  expect(schedules).toHaveLength(8)
  expect(schedules.reduce((sum, { runs }) => sum + runs, 0)).toBe(ids.length)
  expect(lines.filter((line) => !ids.includes(line))).toEqual([])
  // What went well has its line. What was killed in the middle does not say that it went well.
  const wentWell = [...runtime.store.records({ kind: 'end' })]
    .filter(({ text }) => (JSON.parse(text) as { outcome: string }).outcome === 'ok')
    .map(({ call }) => call)
  const missing = begun.filter(
    ({ call, toolCallId = '' }) => wentWell.includes(call) && !lines.includes(toolCallId),
  )
  expect(missing).toEqual([])
  expect(lines.length).toBeGreaterThan(kills)
  expect(runtime.approvals.list()).toEqual([])
  expect(verifyEvidence(runtime.store)).toMatchObject({ ok: true })
  expect(runtime.store.examine()).toEqual([])
}, 900_000)

function start(place: Place, began: number, ends = '') {
  return startProgram(place, [onBundle, program, place.project, String(began), ends])
}
