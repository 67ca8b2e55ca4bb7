import { parentPort } from 'node:worker_threads'
import { endSandbox, findUnasked, writeSandbox } from './write-sandbox.ts'
import type { WriterAsk, WriterWords } from './writer-words.ts'

const say = (words: WriterWords) => parentPort?.postMessage(words)

async function write({ id, rules }: Extract<WriterAsk, { ask: 'write' }>): Promise<void> {
  try {
    say({ says: 'written', id, sandbox: await writeSandbox(rules) })
  } catch (error) {
    say({ says: 'failed', id, message: error instanceof Error ? error.message : String(error) })
  }
}

parentPort?.on('message', (ask: WriterAsk) => {
  if (ask.ask === 'write') return void write(ask)
  endSandbox()
  say({ says: 'ended', id: ask.id })
})
say({ says: 'ready', unasked: findUnasked() })
