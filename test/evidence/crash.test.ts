import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeTools, createRuntime, verifyEvidence, type BeginRecord, type EndRecord } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder } from '../support/project.ts'

const writer = join(import.meta.dirname, 'file-writer.ts')
const kills = 50

test(`${kills} processes killed while they write files leave a store that opens, verifies and misses no pair (EVID-1, CALL-3)`, async () => {
  const project = makeFolder()
  const store = join(makeFolder(), 'store.db')
  const cache = makeFolder()
  for (let round = 0; round < kills; round += 2) {
    await Promise.all(
      [round, round + 1].map((each) => writeAndDie({ project, store, cache, name: `w${each}` })),
    )
  }

  const runtime = await createRuntime({
    project,
    tools: [codeTools()],
    store: { path: store },
    policy: { rules: [{ effect: 'allow', tools: ['code.write_file'] }] },
  })
  const begins = [...runtime.store.records({ kind: 'begin' })].map((record) => ({
    ...record,
    begin: JSON.parse(record.text) as BeginRecord,
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

  const outcomeOf = new Map(
    begins.map(({ call, begin }) => [begin.idempotencyKey ?? '', ends.get(call)?.outcome]),
  )
  const written = readdirSync(project).filter((name) => name.endsWith('.txt'))
  expect(written.filter((name) => !outcomeOf.has(name))).toEqual([])
  expect(written.every((name) => readFileSync(join(project, name), 'utf8') === name)).toBe(true)
  const done = [...outcomeOf].filter(([, outcome]) => outcome === 'ok').map(([name]) => name)
  expect(done.filter((name) => !written.includes(name))).toEqual([])

  // Otherwise nobody was killed in the middle of a call.
  const cutOff = [...outcomeOf].filter(([, outcome]) => outcome === 'unknown').map(([name]) => name)
  expect(cutOff.length).toBeGreaterThan(10)
  const [name = ''] = cutOff
  const again = await runtime
    .session()
    .call('code.write_file', { path: name, content: name }, { idempotencyKey: name })
  expect(again.error).toMatchObject({ code: 'IDEMPOTENCY.OUTCOME_UNKNOWN', reason: 'interrupted' })
  await runtime.close()
}, 300_000)

async function writeAndDie(place: {
  project: string
  store: string
  cache: string
  name: string
}): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--conditions=handrail-source', writer, place.project, place.store, place.name],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_COMPILE_CACHE: place.cache },
    },
  )
  let complaints = ''
  child.stderr.on('data', (text) => (complaints += String(text)))
  const ended = once(child, 'close')
  await Promise.race([once(child.stdout, 'data'), ended])
  await sleep(Math.random() * 120)
  child.kill('SIGKILL')
  await ended
  expect(complaints).toBe('')
}
