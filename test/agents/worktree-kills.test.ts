import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makePlace, onBundle, startProgram, type Place } from '../support/command-line.ts'
import { gitAsOwner, makeRepository } from '../support/repository.ts'
import { rounds } from '../support/rounds.ts'

const agent = join(import.meta.dirname, 'killed-worktree-agent.ts')
const kills = rounds({ usual: 5, long: 100 })

test(`of ${kills} agents killed at any time no worktree is lost: one with work is kept and noted, every other one is cleared (AGENT-2, AGENT-3, BI-6)`, async () => {
  const place = makePlace()
  const repository = join(place.project, 'repository')
  mkdirSync(repository)
  writeFileSync(join(repository, 'a.txt'), 'alpha\n')
  makeRepository(repository)
  for (let round = 0; round < kills; round++) {
    const { child, output, ended } = start(place)
    const wanted = Math.floor(Math.random() * 12)
    await expect.poll(() => output.stdout.length, { interval: 2, timeout: 60_000 }).toBeGreaterThan(wanted)
    await sleep(Math.random() * 100)
    child.kill('SIGKILL')
    expect((await ended).stderr).toBe('')
  }
  // The last one goes on to the end.
  expect(await start(place, '1').ended).toMatchObject({ code: 0, stderr: '' })
  await using cleanup = new AsyncDisposableStack()
  const runtime = await createRuntime({
    project: repository,
    store: { path: join(place.project, 'store.db') },
  })
  cleanup.defer(() => runtime.close())
  const runs = runtime.runs.list({ limit: 10_000 })
  expect(runs.every(({ endReason }) => endReason === 'completed')).toBe(true)
  const noted = [...runtime.store.documents({ tenant: 'local', kind: 'worktree' })].map(({ id }) => id)
  const there = gitAsOwner(repository, 'worktree', 'list', '--porcelain')
    .split('\n')
    .flatMap((line) => /^worktree .*\/\.handrail\/worktrees\/(.*)$/.exec(line)?.[1] ?? [])
  expect(there.toSorted()).toEqual(noted.toSorted())
  for (const name of there)
    expect(existsSync(join(repository, '.handrail/worktrees', name, 'made.txt'))).toBe(true)
  const branches = gitAsOwner(repository, 'branch', '--format=%(refname:short)').trim().split('\n')
  expect(branches.filter((name) => name !== 'main').toSorted()).toEqual(
    there.map((name) => `handrail/${name}`).toSorted(),
  )
  expect(gitAsOwner(repository, 'status', '--porcelain')).toBe('')
  expect(verifyEvidence(runtime.store)).toMatchObject({ ok: true })
}, 900_000)

function start(place: Place, most = '1000') {
  return startProgram(place, [onBundle, agent, place.project, most])
}
