import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import type { StoredRun, TranscriptNode } from 'handrail/agents'
import { verifyEvidence } from 'handrail/evidence'
import { replayAgentRun } from 'handrail/replay'
import { expect, test } from 'vitest'
import { makePlace, onBundle, startProgram, type Place } from '../support/command-line.ts'
import { killedOptions } from './killed-options.ts'
import { modelSaying } from '../support/mock-model.ts'
import { rounds } from '../support/rounds.ts'

const agent = join(import.meta.dirname, 'killed-agent.ts')
const kills = rounds({ usual: 2, long: 200 })

test(`of ${kills} agents killed at any time each run is gone on with, no call is repeated and no node is there twice, and its archive is as its conversation, and it is replayed (AGENT-3, EVID-1, EVID-4)`, async () => {
  const place = makePlace()
  for (let round = 0; round < kills; round++) {
    const { child, output, ended } = start(place)
    const wanted = 1 + Math.floor(Math.random() * 40)
    await expect.poll(() => output.stdout.length, { interval: 2 }).toBeGreaterThan(wanted)
    await sleep(Math.random() * 10)
    child.kill('SIGKILL')
    expect((await ended).stderr).toBe('')
    readArchive(place)
  }
  // The last one goes on to the end.
  expect(await start(place, '1').ended).toMatchObject({ code: 0, stderr: '' })

  await using cleanup = new AsyncDisposableStack()
  const runtime = await createRuntime({
    project: place.project,
    store: { path: join(place.project, 'store.db') },
    archive: { dir: place.project },
  })
  cleanup.defer(() => runtime.close())
  const lines = readFileSync(join(place.project, 'lines'), 'utf8').trimEnd().split('\n')
  expect(new Set(lines).size).toBe(lines.length)
  const all = runtime.runs.list({ limit: 10_000 })
  // The next run of any process brings into the archive what killed ones did not.
  const { model } = modelSaying([])
  await (
    await runtime.run({ model, prompt: 'Nothing.', signal: AbortSignal.abort() })
  ).result
  await expect.poll(() => behind(all, readArchive(place))).toEqual([])
  const archived = readArchive(place)
  let unknown = 0
  for (const { id, endReason, turns } of all) {
    expect({ endReason, turns }).toEqual({ endReason: 'completed', turns: 5 })
    const nodes = runtime.runs.transcript(id)
    expect(nodes.map(({ type }) => type)).toEqual([
      'user',
      ...Array.from({ length: 4 }, () => ['assistant', 'tool']).flat(),
      'assistant',
    ])
    expect(archived.get(id)).toEqual({ about: { state: 'ended', end_reason: 'completed', turns: 5 }, nodes })
    expect(nodes.map((node) => node.id)).toEqual(nodes.map((_, index) => `${id}.${index + 1}`))
    for (const { input, told } of callsOf(nodes)) {
      if (input.line === undefined) continue
      // A call that was killed is told as what it is, whether or not its line is there.
      if (!told.includes(input.line)) unknown++
      else expect(lines).toContain(input.line)
    }
  }
  const { project } = place
  for (const { id } of all.slice(-3)) {
    const options = { project, home: project, ...killedOptions(project) }
    const again = await replayAgentRun({ store: runtime.store, run: id, runtime: options })
    expect([again.turns, again.divergence]).toEqual([5, undefined])
  }
  expect(readFileSync(join(project, 'lines'), 'utf8').trimEnd().split('\n')).toEqual(lines)
  expect(lines.length + unknown).toBeGreaterThanOrEqual(8 * all.length)
  expect(unknown).toBeLessThan(all.length * 8)
  expect(runtime.approvals.list()).toEqual([])
  expect(verifyEvidence(runtime.store)).toMatchObject({ ok: true })
}, 900_000)

/** What the archive says of each run. Whatever was killed, its files are whole; a log may lack the end of its last line. */
function readArchive({ project }: Place) {
  const runs = join(project, 'runs')
  const names = existsSync(runs) ? readdirSync(runs).filter((name) => name.startsWith('run_')) : []
  return new Map(
    names.map((name) => {
      const folder = join(runs, name)
      const file = join(folder, 'run.json')
      const { state, end_reason, turns } = (
        existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
      ) as Record<string, unknown>
      const log = join(folder, 'transcript.jsonl')
      const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []
      const nodes = lines.map((line) => JSON.parse(line) as TranscriptNode)
      return [name, { about: { state, end_reason, turns }, nodes }] as const
    }),
  )
}

function behind(all: readonly StoredRun[], archived: ReturnType<typeof readArchive>): readonly string[] {
  return all.map(({ id }) => id).filter((id) => archived.get(id)?.about.end_reason !== 'completed')
}

function start(place: Place, most = '1000') {
  return startProgram(place, [onBundle, agent, place.project, most])
}

/** The calls of a run with what was told of them. */
function callsOf(nodes: readonly TranscriptNode[]): { input: { line?: string }; told: string }[] {
  return nodes.flatMap((node, index) => {
    const next = nodes[index + 1]
    if (node.type !== 'assistant' || next?.type !== 'tool') return []
    const calls = (node.content as { type: string; input?: string }[]).filter(
      ({ type }) => type === 'tool-call',
    )
    const told = next.content as { output: { value: string } }[]
    expect(told).toHaveLength(calls.length)
    expect(new Set(next.calls).size).toBe(calls.length)
    return calls.map(({ input = '{}' }, place) => ({
      input: JSON.parse(input) as { line?: string },
      told: told[place]?.output.value ?? '',
    }))
  })
}
