import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { onBundle } from '../support/command-line.ts'
import { makeFolder } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'
import { openTasks, workOn, type ShownStep } from './task-doors.ts'

const program = join(import.meta.dirname, 'task-worker.ts')
/** Of eight workers each. */
const processes = rounds({ usual: 4, long: 8 })
const kills = rounds({ usual: 2, long: 200 })
const atOnce = 4
/** So many steps stand in each of so many rows; each depends on two of the row before. */
const wide = 40
const rows = Math.ceil(kills / 4) + 4
const leaseMs = 300_000

interface Effect {
  step: string
  attempt: number
  worker: string
}

test(`${8 * processes} workers in ${processes} processes do each step once, in the order of what depends on what (BI-3)`, async () => {
  const { place, task } = await makeTask(4)
  const workers = Array.from({ length: processes }, (_, each) =>
    startWorker(place, { task, name: `w${each}`, keeps: true }),
  )
  // However fast one of them is, it leaves some steps to another.
  await atLeastTwo(workers.map(({ child }) => saysOf(child.stdout, 'k')))
  for (const { child } of workers) child.stdin.end()
  await Promise.all(workers.map(({ ended }) => ended))
  const effects = readEffects(place)
  expect(effects.map(({ step }) => step).toSorted()).toEqual(namesOf(4).toSorted())
  expect(new Set(effects.map(({ worker }) => worker)).size).toBeGreaterThan(1)
  const at = new Map(effects.map(({ step }, index) => [step, index]))
  for (const { step_id, depends_on } of stepsOf(4))
    for (const on of depends_on) expect(at.get(on)).toBeLessThan(at.get(step_id) ?? 0)
})

test(`${kills} processes of workers killed at random lose their leases and nothing else (BI-3)`, async () => {
  const { place, task } = await makeTask(rows)
  let round = 0
  for (let killed = 0; killed < kills; killed += atOnce) {
    // What the dead had claimed is free by now.
    const later = leaseMs * round++
    const [keeper = '', ...names] = Array.from({ length: atOnce }, (_, each) => `w${killed + each}`)
    await Promise.all(names.map((name) => workAndDie(place, { task, name, later })))
    // If it finds none to hold, the others died with all that is free in their hands.
    await workAndDie(place, { task, name: keeper, later, keeps: true })
  }
  const last = startWorker(place, { task, name: 'last', later: leaseMs * round })
  expect(await last.ended).toEqual({ code: 0, complaints: '' })

  const runtime = await openTasks({ store: { path: place.store } })
  const { data, call } = workOn(runtime.session())
  const done: ShownStep[] = []
  for (let more = true; more;) {
    const page: { steps: ShownStep[]; more: boolean } = await data('query_steps', {
      task_id: task,
      status: 'completed',
      limit: 500,
      offset: done.length,
    })
    done.push(...page.steps)
    more = page.more
  }
  expect(done.map(({ step_id }) => step_id).toSorted()).toEqual(namesOf(rows).toSorted())
  const effects = Map.groupBy(readEffects(place), ({ step }) => step)
  for (const { step_id, attempt, output } of done) {
    const own = effects.get(step_id) ?? []
    // Each claim was one worker's, and what is kept is the last one's.
    expect(new Set(own.map((effect) => effect.attempt)).size).toBe(own.length)
    expect(own.find((effect) => effect.attempt === attempt)?.worker).toBe(output)
    expect(own.length).toBeLessThanOrEqual(attempt)
  }
  // Some processes were killed with a step in their hands.
  expect(done.filter(({ attempt }) => attempt > 1).length).toBeGreaterThan(0)
  await call('complete', { task_id: task })
  expect(verifyEvidence(runtime.store).ok).toBe(true)
  expect(runtime.store.examine()).toEqual([])
})

interface Place {
  project: string
  store: string
}

async function makeTask(deep: number): Promise<{ place: Place; task: string }> {
  const place = { project: makeFolder(), store: join(makeFolder(), 'store.db') }
  const runtime = await openTasks({ store: { path: place.store } })
  const author = workOn(runtime.session())
  const task = await author.create([])
  for (let row = 0; row < deep; row++)
    await author.change(
      task,
      ...stepsOf(deep)
        .slice(row * wide, (row + 1) * wide)
        .map((step) => ({ op: 'add_step', ...step })),
    )
  await runtime.close()
  return { place, task }
}

function namesOf(deep: number): string[] {
  return stepsOf(deep).map(({ step_id }) => step_id)
}

function stepsOf(deep: number): { step_id: string; title: string; depends_on: string[] }[] {
  return Array.from({ length: deep * wide }, (_, n) => {
    const [row, place] = [Math.floor(n / wide), n % wide]
    const before = (other: number) => `r${row - 1}-${(place + other) % wide}`
    return { step_id: `r${row}-${place}`, title: 'x', depends_on: row === 0 ? [] : [before(0), before(7)] }
  })
}

function readEffects({ project }: Place): Effect[] {
  const lines = readFileSync(join(project, 'effects'), 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => {
    const [step = '', attempt = '', worker = ''] = line.split(' ')
    return { step, attempt: Number(attempt), worker }
  })
}

interface Worker {
  task: string
  name: string
  later?: number
  /** Whether its workers hold what they claim first until its standard input ends. */
  keeps?: boolean
}

function startWorker({ project, store }: Place, { task, name, later = 0, keeps = false }: Worker) {
  const argv = [project, store, task, name, String(later), keeps ? 'keeps' : '']
  const child = spawn(process.execPath, [onBundle, program, ...argv], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.on('data', (text) => (complaints += String(text)))
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code, complaints }))
  child.stdout.resume()
  return { child, ended }
}

async function workAndDie(place: Place, worker: Worker): Promise<void> {
  const { child, ended } = startWorker(place, worker)
  // However fast the machine is: after some claims, in the middle of others.
  const claims = 1 + Math.floor(Math.random() * 12)
  const isFar = saysOf(child.stdout, '.', worker.keeps === true ? 100 : claims)
  await Promise.race([isFar, ...(worker.keeps === true ? [saysOf(child.stdout, 'k')] : []), ended])
  child.kill('SIGKILL')
  expect((await ended).complaints).toBe('')
}

async function atLeastTwo(promises: readonly Promise<void>[]): Promise<void> {
  const first = await Promise.race(promises.map((promise, each) => promise.then(() => each)))
  await Promise.race(promises.toSpliced(first, 1))
}

/** Resolves when so many letters have come, this one among them. */
function saysOf(stream: Readable, letter: string, count = 1): Promise<void> {
  return new Promise((resolve) => {
    let said = ''
    stream.on('data', (chunk: Buffer) => {
      said += String(chunk)
      if (said.length >= count && said.includes(letter)) resolve()
    })
  })
}
