import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JsonObject } from '../../contract/base/json.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { createAppender } from './create-appender.ts'
import { replaceFile } from './replace-file.ts'
import type { RunLog } from './run-log.ts'

/** Who runs, as known with the first record of a session, or of a run of an agent in it. */
export interface RunFacts {
  session: string
  tenant: string
  actor: string
  role: string
  /** Milliseconds since the epoch. */
  at: number
}

/** What a run that had to deliver something came to. */
export interface RunOutcome {
  /** For `run.json`. */
  readonly facts: JsonObject
  /** Files that were delivered: their path in the folder, and where to get them; undefined for one that is gone. */
  readonly files: readonly { path: string; read: () => Promise<Uint8Array | undefined> }[]
}

/** One run's folder. Nothing is made before the first write. */
export interface RunFolder {
  readonly name: string
  readonly ended: boolean
  /** Keeps a line for the next write. */
  add(log: RunLog, line: string): void
  /** Has the next write make the log anew, of the lines that are added from here on. */
  restart(log: RunLog): void
  /** Keeps a file for the next write, in place of one that is there. */
  put(path: string, text: string): void
  /** Adds to what `run.json` says. */
  tell(facts: JsonObject): void
  /** Says that the run goes on, also one that had ended; the next write says so in `run.json`. */
  begin(): void
  /** Says that the run is over, and what more there is to say of it; the next write says so in `run.json`. */
  end(at: number, outcome?: RunOutcome): void
  /** Writes what was kept. Rejects where the folder cannot be written. */
  write(): Promise<void>
}

/** What `run.json` says of an end, which a run that goes on has not. */
const endFields: ReadonlySet<string> = new Set(['ended_at', 'status', 'deliverables'])
const folders = ['logs', 'workspace', 'deliverables', 'archive']

/** The folder of a session under `dir/runs/`, whose logs have `logBytes` at most each. One that an earlier process made keeps what its `run.json` says. */
export function createRunFolder(dir: string, facts: RunFacts, logBytes: number): RunFolder {
  const name = folderName(facts)
  const folder = join(dir, 'runs', name)
  const { session, tenant, actor, role } = facts
  const file = join(folder, 'run.json')
  let about: object = { run_id: session, tenant, actor, role, started_at: toIso(facts.at) }
  let told: JsonObject = {}
  const lines = new Map<RunLog, string[]>()
  const restarted = new Set<RunLog>()
  const files = new Map<string, string>()
  const appender = createAppender(folder, logBytes)
  let isMade = false
  /** Whether `run.json` does not say yet what is known. */
  let isBehind = false
  let endedAt: number | undefined
  let outcome: RunOutcome | undefined

  /** Returns whether `run.json` has still to be made. */
  const make = async (): Promise<boolean> => {
    for (const each of folders) await mkdir(join(folder, each), { recursive: true, mode: 0o700 })
    isMade = true
    const before = await readAbout(file)
    if (before !== undefined) about = { ...about, ...withoutEnd(before) }
    return before === undefined
  }
  /** Writes what was kept until it began; what comes meanwhile is left to the next write. */
  const writeKept = async (): Promise<void> => {
    const [batch, anew, whole] = [[...lines], new Set(restarted), [...files]]
    const [isNews, said, delivered] = [isBehind, { ...toEnd(endedAt), ...told, ...outcome?.facts }, outcome]
    lines.clear()
    restarted.clear()
    files.clear()
    isBehind = false
    try {
      // An old one may have been pruned since the last write.
      const isNew = (!isMade || !existsSync(folder)) && (await make())
      await writeDelivered(folder, delivered)
      for (const [path, text] of whole) await replaceFile(join(folder, path), text)
      for (const [log, added] of batch) await appender.write(log, added, anew.has(log))
      // Last, so that what it says of a run is there.
      if (isNews || isNew) await replaceFile(file, `${JSON.stringify({ ...about, ...said }, null, 2)}\n`)
    } catch (error) {
      isBehind ||= isNews
      throw error
    }
  }
  return {
    name,
    get ended() {
      return endedAt !== undefined
    },
    add(log, line) {
      const kept = lines.get(log)
      if (kept === undefined) lines.set(log, [line])
      else kept.push(line)
    },
    restart(log) {
      lines.set(log, [])
      restarted.add(log)
    },
    put(path, text) {
      files.set(path, text)
    },
    tell(more) {
      told = { ...told, ...more }
      isBehind = true
    },
    begin() {
      endedAt = undefined
      outcome = undefined
      isBehind = true
    },
    end(at, known) {
      endedAt = at
      outcome = known
      isBehind = true
    },
    write: writeKept,
  }
}

function toEnd(endedAt: number | undefined): { ended_at: string | null } {
  return { ended_at: endedAt === undefined ? null : toIso(endedAt) }
}

/** Copies what the run delivered. */
async function writeDelivered(folder: string, outcome: RunOutcome | undefined): Promise<void> {
  for (const { path, read } of outcome?.files ?? []) {
    const bytes = await read()
    if (bytes === undefined) continue
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
    await writeFile(join(folder, path), bytes, { mode: 0o600 })
  }
}

/** The name of the folder of a session, or of a run of an agent. */
export function folderName({ session, tenant }: Pick<RunFacts, 'session' | 'tenant'>): string {
  // A session's id is a folder's name only if it cannot mean anything else. One of a program's own is unique in its tenant only.
  const isOwn = !/^ses_[0-9a-z]{19}$/.test(session) && tenant !== 'local'
  if (isOwn) return `run_${hash('sha256', `${tenant} ${session}`, 'hex')}`
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(session)) return session
  return `run_${hash('sha256', session, 'hex')}`
}

/** Where it is said what a session is, or a run of an agent. */
export function aboutFile(dir: string, facts: Pick<RunFacts, 'session' | 'tenant'>): string {
  return join(dir, 'runs', folderName(facts), 'run.json')
}

/** What `run.json` says; undefined if it cannot be read. */
export async function readAbout(file: string): Promise<JsonObject | undefined> {
  try {
    const written: unknown = JSON.parse(await readFile(file, 'utf8'))
    return isJsonObject(written) ? written : undefined
  } catch {
    return undefined
  }
}

function withoutEnd(about: JsonObject): object {
  return Object.fromEntries(Object.entries(about).filter(([field]) => !endFields.has(field)))
}

function toIso(at: number): string {
  return new Date(at).toISOString()
}
