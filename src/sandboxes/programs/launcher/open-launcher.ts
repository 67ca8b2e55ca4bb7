import { randomBytes } from 'node:crypto'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, rmdirSync, unlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { makeTemporaryFolder } from '../../leftovers/temporary-folder.ts'
import { childProcess } from './child-process.ts'
import { followPrograms } from './follow-programs.ts'
import { keyDigits, type Ask, type Tell } from './launcher-words.ts'
import { openStreams, type Streams } from './open-streams.ts'
import type { Start } from './started.ts'

/** A launcher that runs. Close it. */
export interface OpenLauncher {
  readonly start: Start
  /** Ends it, and with it what it started. */
  close(): Promise<void>
}

/**
 * Starts a launcher: a small process that starts programs for this one, so that the time this takes does not grow with the memory of this one.
 * It ends when this process does, however that happens, and ends what runs then. `onLost` is told when it has ended.
 */
export async function openLauncher(onLost: () => void): Promise<OpenLauncher> {
  requireDescriptors()
  const secret = randomBytes(16).toString('hex')
  const meeting = await openMeeting(secret)
  const child = spawnLauncher()
  const programs = followPrograms({
    ask: (word) => tell(child, word),
    stream: (key) => meeting.streams.take(key),
    // This process goes on as long as something that it started runs, and no longer.
    onBusy: (busy) => keepAlive(child, busy),
  })
  let over = false
  const lose = () => {
    if (over) return
    over = true
    onLost()
    programs.lose()
    meeting.close()
  }
  const gone = once(child, 'exit').then(lose, lose)
  child.on('message', (word: Tell) => programs.take(word))
  // Without its line it can be asked for nothing, and ends by itself.
  child.once('disconnect', lose)
  tell(child, { ask: 'greet', secret, socket: meeting.socket })
  keepAlive(child, false)
  return {
    start: programs.start,
    async close() {
      child.ref()
      if (child.connected) child.disconnect()
      await gone
    },
  }
}

/** Opens a place without opening what is there. */
const O_PATH = 0o10000000

/**
 * Where the launcher connects to: a socket without a name, which is found only through the descriptor that this process holds of it, and
 * so is gone with this process. Close it.
 */
async function openMeeting(secret: string): Promise<{ socket: string; streams: Streams; close(): void }> {
  const folder = makeTemporaryFolder()
  const opened = new DisposableStack()
  try {
    const held = openSync(folder, 'r')
    // PathHandle to the end: closing the streams removes the name by which they were made, in whatever folder has this number by then.
    opened.defer(() => closeSync(held))
    // The address of a socket is short, and the path of a folder for temporary files may not be.
    const path = `/proc/self/fd/${held}/streams`
    const streams = await openStreams(path, { secret, keyBytes: secret.length + keyDigits })
    opened.defer(() => streams.close())
    const named = openSync(path, O_PATH)
    opened.defer(() => closeSync(named))
    unlinkSync(path)
    return { socket: `/proc/${process.pid}/fd/${named}`, streams, close: () => opened.dispose() }
  } catch (error) {
    opened.dispose()
    throw error
  } finally {
    rmdirSync(folder)
  }
}

/** So many are needed for a moment. */
const descriptors = 16

/** Fails if too many files are open: a start that fails of it would leave descriptors open, so that it would fail ever after. */
function requireDescriptors(): void {
  using opened = new DisposableStack()
  for (let each = 0; each < descriptors; each++) {
    const descriptor = openSync('/dev/null', 'r')
    opened.defer(() => closeSync(descriptor))
  }
}

/** Small in memory and without threads beside its own: both are copied, or counted, at every start. */
const lean = ['--max-old-space-size=64', '--max-semi-space-size=1', '--v8-pool-size=0']

/** With a session of its own, so that the keys of a terminal end what this process decides to end, and with an environment that holds no secret. */
function spawnLauncher(): ChildProcess {
  const { LD_LIBRARY_PATH: libraries } = process.env
  return childProcess().spawn(process.execPath, [...lean, fileURLToPath(findEntry())], {
    cwd: '/',
    env: libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries },
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
}

/** Beside this file, or where the build puts it. */
function findEntry(): URL {
  const here = import.meta.url
  return new URL(here.endsWith('.ts') ? './launch-programs.ts' : '../workers/launch-programs.cjs', here)
}

function tell(child: ChildProcess, word: Ask): void {
  // One that is not there any more is noticed by its end.
  child.send(word, () => {})
}

function keepAlive(child: ChildProcess, alive: boolean): void {
  if (alive) child.ref()
  else child.unref()
  if (alive) child.channel?.ref()
  else child.channel?.unref()
}
