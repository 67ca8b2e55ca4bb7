import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import { verifyEvidence, type BeginRecord, type EndRecord } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { onBundle } from '../support/command-line.ts'
import { makeFolder } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'
import { journalOf, optionsOf } from './crashing-work.ts'

const worker = join(import.meta.dirname, 'crashing-worker.ts')
const kills = rounds({ usual: 8, long: 300 })
const atOnce = 4

test(`${kills} processes killed at random leave no open begin, no lost reservation and no double effect (EVID-1, CALL-3, CALL-4, AUTH-4)`, async () => {
  const place = { project: makeFolder(), store: join(makeFolder(), 'store.db') }
  for (let round = 0; round < kills; round += atOnce)
    await Promise.all(
      Array.from({ length: atOnce }, (_, each) => workAndDie({ ...place, name: `w${round + each}` })),
    )

  // After the lease of whatever the dead had reserved.
  const runtime = await createRuntime({ ...optionsOf(place), now: () => Date.now() + 120_000 })
  const begins = [...runtime.store.records({ kind: 'begin' })].map(({ text, body }) => ({
    ...(JSON.parse(text) as BeginRecord),
    key: keyIn(body),
  }))
  const ends = new Map(
    [...runtime.store.records({ kind: 'end' })].map((record) => [
      record.call,
      JSON.parse(record.text) as EndRecord,
    ]),
  )
  expect(begins.length).toBeGreaterThan(kills)
  expect(ends.size).toBe(begins.length)
  expect(begins.every(({ call }) => ends.has(call))).toBe(true)
  expect(verifyEvidence(runtime.store)).toMatchObject({ ok: true, calls: begins.length })
  // Otherwise nobody was killed in the middle of a call.
  const cutOff = [...ends.values()].filter(({ reason }) => reason === 'interrupted')
  expect(cutOff.length).toBeGreaterThan(kills / 10)

  // Files: what is there was begun, what is said to be done is there.
  const outcomes = new Map<string, Set<string>>()
  for (const { call, key } of begins) {
    const known = outcomes.get(key) ?? new Set()
    outcomes.set(key, known.add(ends.get(call)?.outcome ?? ''))
  }
  const written = readdirSync(place.project).filter((name) => name.endsWith('.txt'))
  expect(written.filter((name) => !outcomes.has(name))).toEqual([])
  expect(written.every((name) => readFileSync(join(place.project, name), 'utf8') === name)).toBe(true)
  const done = [...outcomes].filter(([, each]) => each.has('ok')).map(([name]) => name)
  expect(done.filter((name) => name.endsWith('.txt') && !written.includes(name))).toEqual([])

  // Keys: nothing happened twice, and what is said to be done did happen.
  const lines = readFileSync(journalOf(place.project), 'utf8').split('\n').filter(Boolean)
  expect(lines.length).toBeGreaterThan(kills / 4)
  expect(new Set(lines).size).toBe(lines.length)
  expect(done.filter((name) => name.startsWith('line-') && !lines.includes(name))).toEqual([])
  const keyOf = new Map(begins.map(({ call, key }) => [call, key]))
  const [path = ''] = cutOff.map(({ call }) => keyOf.get(call) ?? '').filter((key) => key.endsWith('.txt'))
  const again = await runtime
    .session()
    .call('code.write_file', { path, content: path }, { idempotencyKey: path })
  expect(again.error).toMatchObject({ code: 'IDEMPOTENCY.OUTCOME_UNKNOWN', reason: 'interrupted' })

  // Budgets: what was settled is what the ends say, and nothing is held any more.
  const settled = [...ends.values()].reduce((sum, { spent }) => sum + (spent?.['all'] ?? 0), 0)
  // Every effect was paid for, also one whose call was cut off.
  expect(settled).toBeGreaterThanOrEqual(written.length + lines.length)
  const { budget } = await runtime
    .session()
    .preflight('demo.append', { line: 'line-x' }, { idempotencyKey: 'line-x' })
  expect(budget.accounts).toMatchObject([{ id: 'all', spent: settled, reserved: 0 }])
  await runtime.close()
})

/** The worker takes what it writes for its key. */
function keyIn(body: string | null): string {
  const { path, line } = JSON.parse(body?.split('\n')[0] ?? '{}') as { path?: string; line?: string }
  return path ?? line ?? ''
}

async function workAndDie(place: { project: string; store: string; name: string }): Promise<void> {
  const child = spawn(process.execPath, [onBundle, worker, place.project, place.store, place.name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.on('data', (text) => (complaints += String(text)))
  const ended = once(child, 'close')
  // However fast the machine is: after some calls, in the middle of others.
  await Promise.race([lettersOf(child.stdout, 1 + Math.floor(Math.random() * 20)), ended])
  await sleep(Math.random() * 10)
  child.kill('SIGKILL')
  await ended
  expect(complaints).toBe('')
  expect(existsSync(place.store)).toBe(true)
}

/** Resolves when so many letters have come. */
function lettersOf(stream: Readable, count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count
    stream.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left <= 0) resolve()
    })
  })
}
