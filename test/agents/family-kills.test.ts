import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makePlace, onBundle, startProgram, type Place } from '../support/command-line.ts'
import { rounds } from '../support/rounds.ts'
import { openTasks, workOn, type ShownStep } from './task-doors.ts'

const kills = rounds({ usual: 2, long: 200 })
/** More than there is time for. */
const most = 2 * kills + 2

test(`of ${kills} agents killed with agents below them, steps and approvals each goes on, and nothing is done twice (AGENT-2, BI-3, PERM-3)`, async () => {
  const place = makePlace()
  const open = () => openTasks({ project: place.project, store: { path: join(place.project, 'store.db') } })
  const { task, close } = await makeTask(await open())
  await close()
  const person = startProgram(place, [
    onBundle,
    join(import.meta.dirname, 'answering-person.ts'),
    place.project,
  ])
  for (let round = 0; round < kills; round++) {
    const { child, output, ended } = startFamily(place, task, most)
    const wanted = 1 + Math.floor(Math.random() * 50)
    let hasEnded = false
    void ended.then(() => (hasEnded = true))
    await expect.poll(() => hasEnded || output.stdout.length > wanted, { interval: 2 }).toBe(true)
    await sleep(Math.random() * 10)
    child.kill('SIGKILL')
    expect(await ended).toMatchObject({ signal: 'SIGKILL', stderr: '' })
  }
  // The last one goes on to the end of what was begun.
  expect(await startFamily(place, task, 1).ended).toMatchObject({ code: 0, stderr: '' })
  person.child.stdin.end()
  expect(await person.ended).toMatchObject({ code: 0, stderr: '' })

  const runtime = await open()
  const runs = runtime.runs.list({ limit: 10_000 })
  expect(runs.filter(({ endReason }) => endReason !== 'completed')).toEqual([])
  const leading = runs.filter(({ session }) => /^s\d+$/.test(session)).map(({ session }) => session)
  expect(runs).toHaveLength(3 * leading.length)
  for (const { id } of runs) {
    const ids = runtime.runs.transcript(id).map((node) => node.id)
    expect(ids).toEqual(ids.map((_, index) => `${id}.${index + 1}`))
  }
  const named = leading.flatMap((name) => [`${name}-a`, `${name}-b`])
  const lines = readFileSync(join(place.project, 'lines'), 'utf8').trimEnd().split('\n')
  expect(new Set(lines).size).toBe(lines.length)
  const expected = named.flatMap((name) => [name, `${name} noted`])
  expect(expected).toEqual(expect.arrayContaining(lines))
  // Each kill may have hit a call that had not added its line.
  expect(lines.length).toBeGreaterThanOrEqual(expected.length - 2 * kills)
  const steps = await findDone(workOn(runtime.session()), task)
  expect(steps.map(({ step_id }) => step_id).toSorted()).toEqual(named.toSorted())
  // A claim stays that of the agent that made it, whatever process it goes on in.
  expect(steps.filter(({ attempt }) => attempt !== 1)).toEqual([])
  expect(runtime.approvals.list()).toEqual([])
  expect(verifyEvidence(runtime.store)).toMatchObject({ ok: true })
  expect(runtime.store.examine()).toEqual([])
  await expect.poll(() => commandsOf(place)).toEqual([])
}, 900_000)

test.each([
  { kind: 'foreground', asked: 0 },
  { kind: 'background', asked: 1 },
])(
  'an agent in the $kind whose parent is killed is asked $asked times more, and is not started twice (AGENT-2)',
  async ({ kind, asked }) => {
    const place = makePlace()
    const program = join(import.meta.dirname, 'dying-parent.ts')
    const start = (fate: string) => startProgram(place, [onBundle, program, place.project, kind, fate]).ended
    expect(await start('dies')).toMatchObject({ signal: 'SIGKILL', stderr: '' })
    const second = await start('lives')
    expect(second).toMatchObject({ code: 0, stderr: '', stdout: `${'asked\n'.repeat(asked)}completed\n` })
    const runtime = await openTasks({ store: { path: join(place.project, 'store.db') } })
    const runs = runtime.runs.list()
    expect(runs.map(({ endReason }) => endReason)).toEqual(['completed', 'completed'])
  },
)

function startFamily(place: Place, task: string, count: number) {
  const program = join(import.meta.dirname, 'killed-family.ts')
  return startProgram(place, [onBundle, program, place.project, task, String(count)])
}

async function makeTask(runtime: Awaited<ReturnType<typeof openTasks>>) {
  const author = workOn(runtime.session())
  const steps = Array.from({ length: most }, (_, run) => ['a', 'b'].map((letter) => `s${run + 1}-${letter}`))
  const task = await author.create(steps.flat().map((step_id) => ({ step_id, title: 'x' })))
  return { task, close: () => runtime.close() }
}

async function findDone({ data }: ReturnType<typeof workOn>, task_id: string): Promise<ShownStep[]> {
  const done: ShownStep[] = []
  for (let more = true; more;) {
    const query = { task_id, status: 'completed', limit: 500, offset: done.length }
    const page: { steps: ShownStep[]; more: boolean } = await data('query_steps', query)
    done.push(...page.steps)
    more = page.more
  }
  return done
}

/** The commands that agents of a place have started and that run. */
function commandsOf({ project }: Place): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      try {
        return [readFileSync(`/proc/${id}/cmdline`, 'utf8')]
      } catch {
        // It has ended meanwhile.
        return []
      }
    })
    .filter((line) => line.includes('sleep 100000') && line.includes(project))
}
