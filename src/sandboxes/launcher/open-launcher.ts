import { randomBytes } from 'node:crypto'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { childProcess } from './child-process.ts'
import { followPrograms } from './follow-programs.ts'
import { keyDigits, socketName, type Ask, type Tell } from './launcher-words.ts'
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
  const secret = randomBytes(16).toString('hex')
  const meeting = await openMeeting(secret)
  const child = spawnLauncher(meeting.folder)
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
  tell(child, { ask: 'greet', secret })
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

/** Where the launcher connects to, in a folder that nobody else may enter. */
async function openMeeting(secret: string): Promise<{ folder: string; streams: Streams; close(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-'))
  const held = openSync(folder, 'r')
  const remove = () => {
    closeSync(held)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    // The address of a socket is short, and the path of a folder for temporary files may not be.
    const path = `/proc/self/fd/${held}/${socketName}`
    const streams = await openStreams(path, { secret, keyBytes: secret.length + keyDigits })
    const close = () => {
      streams.close()
      remove()
    }
    return { folder, streams, close }
  } catch (error) {
    remove()
    throw error
  }
}

/** Small in memory and without threads beside its own: both are copied, or counted, at every start. */
const lean = ['--max-old-space-size=64', '--max-semi-space-size=1', '--v8-pool-size=0']

/** With a session of its own, so that the keys of a terminal end what this process decides to end, and with an environment that holds no secret. */
function spawnLauncher(folder: string): ChildProcess {
  const { LD_LIBRARY_PATH: libraries } = process.env
  return childProcess().spawn(process.execPath, [...lean, fileURLToPath(findEntry())], {
    cwd: folder,
    env: libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries },
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
}

/** Beside this file, or where the build puts it. */
function findEntry(): URL {
  const here = import.meta.url
  return new URL(here.endsWith('.ts') ? './launch-programs.ts' : '../workers/launch-programs.js', here)
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
