import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createEvidence } from './create-evidence.ts'
import { newId } from '../kit/new-id.ts'
import { openSqliteStore } from '../stores/sqlite/open-sqlite-store.ts'
import { sampleBegin, sampleEnd } from '../testing/store-checks/sample-records.ts'

/**
 * A process that makes calls, several at a time: begin, an effect (a file named after the call), end. Ends after so many calls,
 * or never. Says `ready` at the first effect, and fails if a record is refused.
 */
const [path = '', effects = '', calls = ''] = process.argv.slice(2)
let isReady = false
let left = calls === '' ? Number.POSITIVE_INFINITY : Number(calls)

const store = await openSqliteStore({ path })
const evidence = createEvidence({ store, now: Date.now })
await Promise.all(Array.from({ length: 8 }, work))
await evidence.close()
await store.close()

async function work(): Promise<void> {
  while (left-- > 0) {
    const call = newId('call', Date.now())
    claim(call)
    const begin = sampleBegin(call, { writer: evidence.writer, idempotencyKey: call })
    await evidence.begin(begin)
    writeFileSync(join(effects, call), '')
    sayReady()
    await evidence.end([sampleEnd(call)], resultOf(call))
  }
}

function sayReady(): void {
  if (!isReady) process.stdout.write('ready\n')
  isReady = true
}

function claim(call: string): void {
  const use = { tenant: 'local', tool: 'test.touch', key: call, inputDigest: '', call, at: 0, windowMs: 1000 }
  const { state } = store.claimKey(use)
  if (state !== 'claimed') throw new Error(`The new key "${call}" is ${state}.`)
}

function resultOf(callId: string): Parameters<typeof evidence.end>[1] {
  const about = {
    callId,
    toolCallId: callId,
    tool: 'test.touch',
    ok: true,
    outcome: 'ok' as const,
    summary: 'done',
  }
  return { ...about, content: [], artifacts: [], metadata: { session: 'session_1', durationMs: 0 } }
}
