import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** The logs of a run, relative to its folder. */
export type RunLog = 'logs/tools.jsonl' | 'logs/errors.jsonl' | 'events.jsonl'

/** Who runs, as known with the first record of a session. */
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
  readonly session: string
  readonly ended: boolean
  /** Keeps a line for the next write. */
  add(log: RunLog, line: string): void
  /** Says that the run goes on, also one that had ended; the next write says so in `run.json`. */
  begin(): void
  /** Says that the run is over, and what more there is to say of it; the next write says so in `run.json`. */
  end(at: number, outcome?: RunOutcome): void
  /** Writes what was kept. Rejects where the folder cannot be written. */
  write(): Promise<void>
}

const startFields = ['run_id', 'tenant', 'actor', 'role', 'started_at']
const folders = ['logs', 'workspace', 'deliverables', 'archive']

/** The folder of a session under `dir/runs/`. One that an earlier process made keeps its start in `run.json`. */
export function createRunFolder(dir: string, facts: RunFacts): RunFolder {
  const folder = join(dir, 'runs', folderName(facts))
  const { session, tenant, actor, role } = facts
  const file = join(folder, 'run.json')
  let about: object = { run_id: session, tenant, actor, role, started_at: toIso(facts.at) }
  const lines = new Map<RunLog, string[]>()
  let isMade = false
  /** Whether `run.json` does not say yet that the run goes on, or is over. */
  let isBehind = false
  let endedAt: number | undefined
  let outcome: RunOutcome | undefined

  const writeAbout = (flag: 'w' | 'wx'): Promise<void> => {
    const ended_at = endedAt === undefined ? null : toIso(endedAt)
    return writeFile(file, `${JSON.stringify({ ...about, ended_at, ...outcome?.facts }, null, 2)}\n`, {
      flag,
    })
  }
  const make = async (): Promise<void> => {
    for (const each of folders) await mkdir(join(folder, each), { recursive: true, mode: 0o700 })
    isMade = true
    try {
      await writeAbout('wx')
      isBehind = false
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error
      about = { ...about, ...(await readStart(file)) }
    }
  }
  const writeFiles = async (): Promise<void> => {
    for (const { path, read } of outcome?.files ?? []) {
      const bytes = await read()
      if (bytes === undefined) continue
      await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
      await writeFile(join(folder, path), bytes, { mode: 0o600 })
    }
  }
  return {
    session,
    get ended() {
      return endedAt !== undefined
    },
    add(log, line) {
      const kept = lines.get(log)
      if (kept === undefined) lines.set(log, [line])
      else kept.push(line)
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
    async write() {
      const batch = [...lines]
      lines.clear()
      // An old one may have been pruned since the last write.
      if (!isMade || !existsSync(folder)) await make()
      if (isBehind) await writeAbout('w')
      isBehind = false
      if (endedAt !== undefined) await writeFiles()
      for (const [log, text] of batch) await appendFile(join(folder, log), text.join(''))
    },
  }
}

/** Who began a run and when, as an earlier process wrote it; nothing of what cannot be read. */
async function readStart(file: string): Promise<object> {
  try {
    const written: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (!isPlainObject(written)) return {}
    return Object.fromEntries(startFields.flatMap((name) => (name in written ? [[name, written[name]]] : [])))
  } catch {
    return {}
  }
}

/** A session's id is a folder's name only if it cannot mean anything else. One of a program's own is unique in its tenant only. */
function folderName({ session, tenant }: RunFacts): string {
  const isOwn = !/^ses_[0-9a-z]{19}$/.test(session) && tenant !== 'local'
  if (isOwn) return `run_${hash('sha256', `${tenant} ${session}`, 'hex')}`
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(session)) return session
  return `run_${hash('sha256', session, 'hex')}`
}

function toIso(at: number): string {
  return new Date(at).toISOString()
}
