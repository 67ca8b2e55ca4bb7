import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createEvidence } from './create-evidence.ts'
import { verifyEvidence } from './chain/verify-evidence.ts'
import type { Store } from '../contract/store.ts'
import { openSqliteStore } from '../stores/sqlite/open-sqlite-store.ts'
import { rounds } from '../../test/support/rounds.ts'

const pairs = rounds({ usual: 2, long: 26 })
/** At once. */
const together = rounds({ usual: 2, long: 4 })

const program = join(import.meta.dirname, 'crash-writer.fixture.ts')

interface Place {
  path: string
  effects: string
}

async function openPlace(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-crash-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const effects = join(directory, 'effects')
  await mkdir(effects)
  return { path: join(directory, 'store.db'), effects }
}

interface Writer {
  process: ChildProcess
  complaints: () => string
  ended: Promise<unknown>
}

/** A running writer that is in the middle of its first calls. */
async function startWriter({ path, effects }: Place, calls?: number): Promise<Writer> {
  const child = spawn(
    process.execPath,
    [program, path, effects, ...(calls === undefined ? [] : [String(calls)])],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let complaints = ''
  child.stderr.on('data', (text) => (complaints += String(text)))
  const ended = once(child, 'close')
  await Promise.race([once(child.stdout, 'data'), ended])
  return { process: child, complaints: () => complaints, ended }
}

async function kill(writer: Writer): Promise<void> {
  writer.process.kill('SIGKILL')
  await writer.ended
  expect(writer.complaints()).toBe('')
}

function callsOf(store: Store, kind: 'begin' | 'end'): string[] {
  return [...store.records({ kind })].map(({ call }) => call)
}

test(`at least ${2 * pairs} killed processes leave no open begin, no gap and no effect without evidence (EVID-1, EVID-7, CALL-3)`, async () => {
  const place = await openPlace()
  const store = await openSqliteStore({ path: place.path })
  const evidence = createEvidence({ store, now: Date.now })
  let recovered = 0
  let unknownKeys = 0
  // Only some are killed in the middle of a call.
  for (let round = 0; round < pairs || recovered <= pairs || unknownKeys === 0; round++) {
    const [one, other] = await Promise.all([startWriter(place), startWriter(place)])
    await setTimeout(Math.random() * 40)
    await kill(one)
    for (const { tenant, call } of store.orphans()) {
      const use = {
        tenant,
        tool: 'test.touch',
        key: call,
        inputDigest: '',
        call: `${call}_again`,
        at: 0,
        windowMs: 1000,
      }
      if (store.claimKey(use).state === 'unknown') unknownKeys++
    }
    // The other one goes on meanwhile, and complains when one of its calls is ended for it.
    recovered += await evidence.recover()
    await setTimeout(Math.random() * 20)
    await kill(other)
    recovered += await evidence.recover()
    expect(store.orphans()).toEqual([])
  }

  const begins = callsOf(store, 'begin')
  expect(callsOf(store, 'end').toSorted()).toEqual(begins.toSorted())
  expect(new Set(begins).size).toBe(begins.length)
  const begun = new Set(begins)
  expect((await readdir(place.effects)).filter((call) => !begun.has(call))).toEqual([])
  expect(verifyEvidence(store)).toEqual({ ok: true, records: begins.length * 2, calls: begins.length })
  await store.close()
})

test('several processes make a store together and share its chain (EVID-7)', async () => {
  const place = await openPlace()
  const writers = await Promise.all(Array.from({ length: together }, () => startWriter(place, 200)))
  await Promise.all(writers.map(({ ended }) => ended))
  expect(writers.map(({ process, complaints }) => [process.exitCode, complaints()])).toEqual(
    writers.map(() => [0, '']),
  )
  const store = await openSqliteStore({ path: place.path })
  expect(verifyEvidence(store)).toEqual({ ok: true, records: together * 400, calls: together * 200 })
  expect(await readdir(place.effects)).toHaveLength(together * 200)
  expect(store.orphans()).toEqual([])
  await store.close()
})
