import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeTools, createRuntime } from 'handrail'
import { delegationTools } from 'handrail/agents'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { handrail, makePlace, onBundle, startProgram, type Place } from '../support/command-line.ts'
import { modelSaying } from '../support/mock-model.ts'
import { makeFolder, openRuntime } from '../support/project.ts'
import { gitAsOwner, makeRepository } from '../support/repository.ts'
import { rounds } from '../support/rounds.ts'

const agent = join(import.meta.dirname, 'killed-worktree-agent.ts')
const kills = rounds({ usual: 2, long: 50 })

test(`of ${kills} agents killed at any time no worktree is lost: one with work is kept and noted, every other one is cleared (AGENT-2, AGENT-3, BI-6)`, async () => {
  const place = makePlace()
  const repository = join(place.project, 'repository')
  mkdirSync(repository)
  writeFileSync(join(repository, 'a.txt'), 'alpha\n')
  makeRepository(repository)
  for (let round = 0; round < kills; round++) {
    const { child, output, ended } = start(place)
    const wanted = Math.floor(Math.random() * 12)
    await expect.poll(() => output.stdout.length, { interval: 2 }).toBeGreaterThan(wanted)
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

const cuts = [
  // With an empty one, git refuses to list any worktree of the repository.
  ['making', 'in the middle of a file of its own', 'add', ': > "$made/commondir"; rm "$folder/a.txt"'],
  ['removing', 'in the middle of its folder', 'remove', 'rm "$folder/.git"'],
  ['removing', 'between its folder and its own files', 'remove', 'rm -r "$folder"'],
  ['removing', 'in the middle of its own files', 'remove', 'rm -r "$folder" "$made/gitdir"'],
  ['removing', 'before it took a file', 'remove', ':'],
  ['making', 'before it wrote files', 'add', 'rm "$folder"/* "$folder/.git" "$made"/*; : > "$made/locked"'],
  ['making', 'while it wrote files', 'add', 'echo initializing > "$made/locked"; rm "$folder/a.txt"'],
] as const

test.each(cuts.slice(0, rounds({ usual: 3, long: cuts.length })))(
  'a worktree that git was %s when it was killed %s is cleared by the next agent (AGENT-2, BI-6)',
  async (...[, , step, leave]) => {
    const place = makePlace()
    const repository = join(place.project, 'repository')
    mkdirSync(repository)
    writeFileSync(join(repository, 'a.txt'), 'alpha\n')
    makeRepository(repository)
    const programs = makeFolder({
      // Comes half of the way, and ends the process that asked for it.
      git: [
        '#!/bin/sh',
        'PATH=${PATH#*:}',
        'case "$*" in',
        `*"worktree ${step}"*) ${step === 'add' ? 'git "$@";' : ''}`,
        '  made=$(ls -d .git/worktrees/*); folder=$(ls -d .handrail/worktrees/*);',
        `  ${leave}; kill -9 $(cat ${join(place.project, 'pid')}); sleep 60;;`,
        '*) exec git "$@";;',
        'esac',
      ].join('\n'),
    })
    chmodSync(join(programs, 'git'), 0o755)
    const path = `${programs}:${process.env['PATH']}`
    mkdirSync(place.home, { recursive: true, mode: 0o700 })
    const argv = [onBundle, agent, place.project, '1', place.store]
    const first = startProgram(place, argv, { env: { PATH: path } })
    writeFileSync(join(place.project, 'pid'), String(first.child.pid))
    expect(await first.ended).toMatchObject({ signal: 'SIGKILL' })
    expect(readdirSync(join(repository, '.git/worktrees'))).toHaveLength(1)
    if (leave.includes('commondir')) {
      const told = await handrail(place, ['doctor'])
      expect(told.stdout).toMatch(/1 worktree left by agents.*which was cut off/s)
    }

    // A run of its own, which starts another agent: the first run is not gone on with.
    const { runtime, session } = await openSession(place, repository)
    const ended = await session.call('agent.create_sub_agent', { task: 'Look.', isolation: 'worktree' })
    expect(ended.error).toBeUndefined()
    expect(gitAsOwner(repository, 'worktree', 'list').trim().split('\n')).toHaveLength(1)
    expect(readdirSync(join(repository, '.handrail/worktrees'))).toEqual(['.gitignore'])
    expect(gitAsOwner(repository, 'branch', '--format=%(refname:short)').trim()).toBe('main')
    expect([...runtime.store.documents({ tenant: 'local', kind: 'worktree' })]).toEqual([])
  },
)

async function openSession(place: Place, project: string) {
  const runtime = await openRuntime({
    project,
    tools: [codeTools(), delegationTools()],
    sandbox: 'host',
    agents: { model: modelSaying([{ text: 'Seen.' }]).model },
    policy: { rules: [{ effect: 'allow', tools: ['code.enter_worktree'] }] },
    store: { path: place.store },
  })
  return { runtime, session: runtime.session() }
}

function start(place: Place, most = '1000') {
  return startProgram(place, [onBundle, agent, place.project, most])
}
