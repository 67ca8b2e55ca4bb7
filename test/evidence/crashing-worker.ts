import { createRuntime } from 'handrail'
import { pruneEvidence } from 'handrail/evidence'
import { optionsOf } from './crashing-work.ts'

/**
 * A process that writes files and lines through governed calls, eight at a time, until it is killed. Each call carries a key: its
 * file's name, or its line, which other processes use as well. Now and then it prunes. It prints a letter for each call that ended.
 */
const [project = '', store = '', name = ''] = process.argv.slice(2)
const runtime = await createRuntime(optionsOf({ project, store }))
const session = runtime.session()
process.stdout.write('.')
let count = 0
await Promise.all(Array.from({ length: 8 }, work))

async function work(): Promise<void> {
  for (;;) {
    const number = count++
    if (number % 15 === 14) await prune()
    if (number % 3 === 0) await append(`line-${Math.floor(Math.random() * 400)}`)
    else await write(`${name}-${number}.txt`)
    process.stdout.write('.')
  }
}

async function prune(): Promise<void> {
  const at = Date.now()
  await pruneEvidence({ store: runtime.store, before: at - 50, at, actor: name })
}

async function write(path: string): Promise<void> {
  const input = { path, content: path }
  const { ok, error } = await session.call('code.write_file', input, { idempotencyKey: path })
  if (!ok) throw new Error(`${path}: ${error?.message}`)
}

/** A line that somebody began and could not end is not appended again: nobody knows whether it is there. */
async function append(line: string): Promise<void> {
  const { ok, error } = await session.call('demo.append', { line }, { idempotencyKey: line })
  if (!ok && error?.code !== 'IDEMPOTENCY.OUTCOME_UNKNOWN') throw new Error(`${line}: ${error?.message}`)
}
