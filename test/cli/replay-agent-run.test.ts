import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'
import type { Answer } from '../support/model-server.ts'
import { listRuns, modelEnv, modelKey, runModel } from '../support/run-model.ts'

const start: Answer = { calls: [{ tool: 'agent.create_sub_agent', input: { task: 'Look.' } }] }
const read: Answer = { calls: [{ tool: 'code.read_file', input: { path: 'a.txt' } }] }
const write: Answer = { calls: [{ tool: 'code.write_file', input: { path: 'b.txt', content: 'new\n' } }] }

test('a run of the command line is replayed with its child from its evidence alone, and parts where the policy or the project says so (EVID-3, EVID-4)', async () => {
  const place = makePlace(
    { 'a.txt': 'alpha\n', 'AGENTS.md': 'Use tabs.' },
    { 'config.json': '{"toolGroups": ["agent"]}' },
  )
  const answers = [start, read, { text: `Seen, ${modelKey}.` }, write, { text: 'Done.' }]
  const argv = ['write b.txt', '--approve', 'once']
  expect(await runModel(place, answers, { argv })).toMatchObject({ code: 0 })
  const runs = await listRuns(place)
  const run = runs.find(({ parent }) => parent === undefined)?.id ?? ''
  const child = runs.find(({ parent }) => parent !== undefined)?.id ?? ''
  rmSync(join(place.project, 'a.txt'))
  const replay = (...more: string[]) => handrail(place, ['evidence', 'replay', ...more], { env: modelEnv })

  const again = await replay('last')
  expect([again.code, again.stderr]).toEqual([0, ''])
  expect(again.stdout).toBe(
    `${run}: 5 turns, 3 of 3 calls replayed, with 1 run that it started\n\nNo divergence.\n`,
  )
  expect((await replay(child.slice(-8))).stdout).toContain(`${child}: 2 turns, 1 of 1 call replayed`)

  const policy = join(place.home, 'stricter.json')
  writeFileSync(policy, '{"rules": [{"id": "still", "effect": "deny", "tools": ["code.write_file"]}]}')
  const parted = await replay(run, '--policy', policy)
  expect(parted.code).toBe(1)
  expect(parted.stdout).toMatch(
    new RegExp(`${run} parts in turn 2 at call_\\w+ code\\.write_file, .*\\n  decision +recorded`),
  )
  expect(parted.stdout).toContain('deny by policy/still')
  const json = await replay(run, '--policy', policy, '--json')
  expect(jsonOf(json)).toMatchObject({ run, divergence: { run, turn: 2, tool: 'code.write_file' } })

  writeFileSync(join(place.project, 'AGENTS.md'), 'Use spaces.')
  expect((await replay(run)).stdout).toMatch(
    /parts in turn 1,.*\n {2}instructions +recorded .*Use tabs\.\n.*Use spaces\./,
  )
  const bad = await replay('run_nowhere')
  expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('run_nowhere')])
  expect((await replay(run, '--policy', join(place.home, 'none.json'))).code).not.toBe(0)

  // The folder of each run has all that was said, but no key.
  for (const id of [run, child]) {
    const folder = join(place.home, 'runs', id)
    expect(readdirSync(folder)).toEqual(
      expect.arrayContaining(['transcript.jsonl', 'system-prompt.md', 'tools.json']),
    )
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name)
      if (!statSync(path).isDirectory()) expect(readFileSync(path, 'utf8')).not.toContain(modelKey)
    }
  }
  const rebuilt = await handrail(place, ['evidence', 'rebuild-archive'], { env: modelEnv })
  expect(rebuilt.stdout).toContain('2 conversations')
  const pruned = await handrail(place, ['evidence', 'prune', '--older-than', '1s'], { env: modelEnv })
  expect(pruned).toMatchObject({ code: 0 })
})
