import { parentPort } from 'node:worker_threads'
import { EngineRoom, readyEngine } from './engine-room.ts'
import { loadEngine } from './load-engine.ts'
import type { FromThread, ThreadReady, ToThread } from './messages.ts'

// A program reads no clock and no zone of the machine.
Date.prototype.getTimezoneOffset = () => 0

const loaded = loadEngine()
const makeEngine = async () => readyEngine(await (await loaded)())
/** Made ahead, so that a program starts at once. None is used twice. */
let next = makeEngine()
let room: EngineRoom | undefined
void next.then(() => {
  parentPort?.postMessage({ type: 'ready' } satisfies ThreadReady)
  parentPort?.on('message', (told: ToThread) => void follow(told))
})

const say = (said: FromThread): void => {
  if (said.type !== 'calls') room = undefined
  parentPort?.postMessage(said)
}

async function follow(told: ToThread): Promise<void> {
  if (told.type === 'replies') {
    if (room !== undefined) say(room.settle(told.replies))
    return
  }
  const engine = await next
  room = new EngineRoom(engine, told.program)
  say(room.start())
  next = makeEngine()
}
