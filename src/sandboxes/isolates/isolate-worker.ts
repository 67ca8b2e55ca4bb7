import { parentPort } from 'node:worker_threads'
import { EngineRoom, readyEngine, type ReadyEngine } from './engine-room.ts'
import { loadEngine } from './load-engine.ts'
import { leavesWhole, type FromThread, type ThreadReady, type ToThread } from './messages.ts'

// A program reads no clock and no zone of the machine.
Date.prototype.getTimezoneOffset = () => 0

const loaded = loadEngine()
const makeEngine = async (): Promise<ReadyEngine> => readyEngine(await (await loaded)())
/** Made ahead, so that a program starts at once. Nothing of a program before is in it. */
let next = makeEngine()
let running: { readonly engine: ReadyEngine; readonly room: EngineRoom } | undefined
void next.then(() => {
  parentPort?.postMessage({ type: 'ready' } satisfies ThreadReady)
  parentPort?.on('message', (told: ToThread) => void follow(told))
})

async function follow(told: ToThread): Promise<void> {
  if (told.type === 'replies') {
    if (running !== undefined) say(running.room.settle(told.replies), running.engine)
    return
  }
  const engine = await next
  running = { engine, room: new EngineRoom(engine, told.program) }
  say(running.room.start(), engine)
}

function say(said: FromThread, engine: ReadyEngine): void {
  parentPort?.postMessage(said)
  if (said.type === 'calls') return
  running = undefined
  next = renew(engine, said)
}

/** This engine as it was before its program, or a new one if more than its memory may be another by now. */
async function renew(engine: ReadyEngine, said: FromThread): Promise<ReadyEngine> {
  return leavesWhole(said) && engine.image.putBack() ? engine : makeEngine()
}
