import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { inFlight, type Contender } from '../harness/contender.ts'
import { nextInputText, runTask, taskName } from '../harness/task.ts'
import { isOrderLine } from '../harness/task-ajv.ts'

/**
 * What a durable call costs at least: its intent is synced to disk before the work and its result after it, both
 * chained; calls in flight share a transaction. Nothing else.
 */
function floor(width: number): Contender {
  return {
    name: `floor, durable, ${width} in flight`,
    batch: width,
    prepare() {
      const directory = mkdtempSync(join(tmpdir(), 'handrail-bench-floor-'))
      const journal = openJournal(join(directory, 'floor.db'))
      const call = async (): Promise<string> => {
        const text = nextInputText()
        const input: unknown = JSON.parse(text)
        if (!isOrderLine(input)) throw new Error('invalid input')
        await journal.append(JSON.stringify({ kind: 'begin', tool: taskName, at: Date.now(), input: text }))
        const result = JSON.stringify(await runTask(input))
        await journal.append(JSON.stringify({ kind: 'end', tool: taskName, at: Date.now(), result }))
        return result
      }
      return Promise.resolve({
        round: (calls) => inFlight(width, calls, call),
        close() {
          journal.close()
          rmSync(directory, { recursive: true })
        },
      })
    },
  }
}

function openJournal(path: string) {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE records (sequence INTEGER PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL)')
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const insert = database.prepare('INSERT INTO records (text, hash) VALUES (?, ?)')
  let last = ''
  let waiting: { text: string; done: () => void }[] = []
  const flush = (): void => {
    const group = waiting
    waiting = []
    begin.run()
    for (const { text } of group) {
      last = hash('sha256', `${last}\n${text}`, 'hex')
      insert.run(text, last)
    }
    commit.run()
    for (const { done } of group) done()
  }
  return {
    append(text: string): Promise<void> {
      return new Promise((done) => {
        if (waiting.push({ text, done }) === 1) setImmediate(flush)
      })
    },
    close: () => database.close(),
  }
}

export const contenders = [1, 32, 256].map(floor)
