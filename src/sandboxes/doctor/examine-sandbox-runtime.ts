import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { CommandOutcome } from '../../contract/services/sandbox.ts'
import { createSandboxRuntimeSandbox } from '../sandbox-runtime/create-sandbox-runtime-sandbox.ts'
import { findMeans } from '../sandbox-runtime/means.ts'
import type { ExaminedSetup } from './examined-setup.ts'
import type { Finding } from './finding.ts'
import { profileOf } from './profile-of.ts'
import { says, stops } from './trials.ts'

/** What a trial finds outside of its sandbox, and must not reach. */
interface Surroundings {
  /** A file that every program of this user may read. */
  readonly secret: string
  /** A place where nothing is yet. */
  readonly free: string
  /** A port on the loopback that is listened at. */
  readonly port: number
}

interface Simulation {
  readonly id: string
  readonly argv: (around: Surroundings) => readonly string[]
  readonly fileBytes?: number
  readonly timeoutMs?: number
  readonly judge: (outcome: CommandOutcome, around: Surroundings) => Pick<Finding, 'holds' | 'detail'>
}

const connect =
  'require("net").connect(Number(process.argv[1]), "127.0.0.1").on("connect", () => { console.log("connected"); process.exit() }).on("error", () => console.log("refused"))'

const trials: readonly Simulation[] = [
  {
    id: 'user',
    argv: () => shell('id -u'),
    judge: (outcome) => says(outcome, /^[1-9]\d*$/, "commands run as this process's user, not as root"),
  },
  {
    id: 'project',
    argv: () => shell('ls . >/dev/null && echo entered'),
    judge: (outcome) => says(outcome, /^entered$/, 'a command can read the project'),
  },
  {
    id: 'outside',
    argv: ({ secret }) => shell('cat "$1" 2>/dev/null || echo refused', secret),
    judge: (outcome) => says(outcome, /^refused$/, 'a command reads no file outside of its roots'),
  },
  {
    id: 'writing',
    argv: ({ free }) => shell('{ echo written > "$1"; } 2>/dev/null || echo refused', free),
    judge: (outcome, { free }) => {
      const found = says(outcome, /^refused$/, 'a command writes no file outside of its write roots')
      return { ...found, holds: found.holds && !existsSync(free) }
    },
  },
  {
    id: 'network',
    argv: ({ port }) => [process.execPath, '-e', connect, String(port)],
    judge: (outcome) => says(outcome, /^refused$/, 'a command reaches no server of this machine'),
  },
  {
    id: 'disk',
    argv: () => shell('head -c 5000000 /dev/zero > "$TMPDIR/a" && echo all'),
    fileBytes: 1024 * 1024,
    judge: (outcome) => stops(outcome, 'a file stops at its bound'),
  },
  {
    id: 'ending',
    argv: () => shell('trap "" TERM; sleep 60 & sleep 60'),
    timeoutMs: 300,
    judge: ({ ended, survivors, durationMs }) => ({
      holds: ended === 'timeout' && survivors.length === 0,
      detail: `a command with its children was gone ${Math.round(durationMs - 300)} ms after its time limit`,
    }),
  },
]

/** A script that sees the words as `$1` and so on. */
function shell(script: string, ...words: string[]): string[] {
  return ['/bin/sh', '-c', script, 'sh', ...words]
}

/** What of the isolation by sandbox-runtime holds, each tried in a sandbox of its own on the project, which is readable and no more. */
export async function examineSandboxRuntime(setup: ExaminedSetup): Promise<Finding[]> {
  const finding = (holds: boolean, detail: string) => ({ id: 'sandbox_runtime', holds, needed: true, detail })
  const hosts: Finding[] = setup.withHosts ? [withoutHosts] : []
  try {
    const { program } = findMeans(setup.env['PATH'] ?? '')
    return [finding(true, `installed; it uses ${program}`), ...(await attemptAll(setup)), ...hosts]
  } catch (error) {
    if (error instanceof ToolFailure) return [finding(false, error.message), ...hosts]
    throw error
  }
}

const withoutHosts: Finding = {
  id: 'proxy',
  holds: false,
  needed: true,
  detail: 'tools name hosts for commands, which reach none by way of sandbox-runtime',
}

async function attemptAll(setup: ExaminedSetup): Promise<Finding[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-doctor-')))
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const around = {
      secret: join(folder, 'secret'),
      free: join(folder, 'free'),
      port: portOf(server.address()),
    }
    writeFileSync(around.secret, 'secret')
    const findings: Finding[] = []
    for (const trial of trials)
      findings.push({ id: trial.id, needed: true, ...(await attempt(trial, setup, around)) })
    return findings
  } finally {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

async function attempt(
  { argv, fileBytes, timeoutMs = 20_000, judge }: Simulation,
  { project, home, env, isolation }: ExaminedSetup,
  around: Surroundings,
): Promise<Pick<Finding, 'holds' | 'detail'>> {
  const bounds = fileBytes === undefined ? isolation : { ...isolation, fileBytes }
  const sandbox = createSandboxRuntimeSandbox({ project, home, env, isolation: bounds })
  try {
    const { commands } = sandbox.enter(profileOf(project, []), { access: 'write' })
    const [executable = '', ...rest] = argv(around)
    const outcome = await commands.run({
      executable,
      argv: [executable, ...rest],
      cwd: project,
      timeoutMs,
      maxBytes: 4096,
      signal: new AbortController().signal,
    })
    return judge(outcome, around)
  } catch (error) {
    if (error instanceof ToolFailure) return { holds: false, detail: error.message }
    throw error
  } finally {
    await sandbox.close()
  }
}
