import { randomBytes } from 'node:crypto'
import type { ArtifactSink, CommandOutcome } from '../../contract/services/sandbox.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import { launcherLost } from './launcher/launcher-lost.ts'
import type { Started } from './launcher/started.ts'
import { whenClosed } from './launcher/when-closed.ts'
import { captureOutput, type Capture } from './capture-output.ts'
import { cpuMsOf } from './cpu-time.ts'
import { endTree } from './end-tree.ts'
import { identifyTree } from '../files/find-tree.ts'
import { aborted } from '../files/aborted.ts'
import { startProgram, type ProgramStart } from './start-program.ts'

/** A program to run to its end, with all that it starts. */
export interface TreeRequest extends Omit<ProgramStart, 'metered'> {
  readonly timeoutMs: number
  /** Kept of each stream. */
  readonly maxBytes: number
  /** Kept of stderr; default `maxBytes`. */
  readonly maxStderrBytes?: number | undefined
  /** How long processes may take to end after they were asked to. */
  readonly graceMs: number
  readonly signals: readonly AbortSignal[]
  readonly sink?: ArtifactSink | undefined
  /** Told of the CPU time of the program and of what it started, in milliseconds, where the system tells. */
  readonly onCpuMs?: ((cpuMs: number) => void) | undefined
  /** Told once the program runs. */
  readonly onStart?: (() => void) | undefined
  readonly onOutput?: ((chunk: { stream: 'stdout' | 'stderr'; text: string }) => void) | undefined
  /** Takes hold of everything that the started program will start. Default: `holdByMark`. */
  readonly hold?: (started: Started, metered: boolean) => TreeHold
}

/** Hold of a program and of all that it starts. */
export interface TreeHold {
  /** Whether the program itself began, once that is known. Absent if it has when there is something to hold. */
  readonly begun?: Promise<boolean>
  /** Ends what is left of it. Returns the ids of processes that could not be ended. */
  end(): Promise<readonly number[]>
  /**
   * CPU time of all its processes in milliseconds once they were ended, if the program and what it waited for took so long. Absent if
   * nothing else can be known.
   */
  cpuMs?(waitedMs: number): number
}

/** How long an ended program's output may stay silent before it counts as complete, and how long it is listened to at most. */
const silenceMs = 50
const maxDrainMs = 2000
/** How long it may take to hear how a program ended that is gone. */
const maxExitMs = 10_000

/**
 * Runs a program and resolves when it and everything that it started is gone, or could not be ended (`survivors`). What it leaves
 * running in the background is ended too. Rejects where it cannot be started or its call is over already, and where `sink`, `onStart` or `onOutput` throws.
 */
export async function runTree(request: TreeRequest): Promise<CommandOutcome> {
  if (request.signals.some((signal) => signal.aborted)) throw aborted()
  const startedAt = performance.now()
  const metered = request.onCpuMs !== undefined
  const { marked, hold } =
    request.hold === undefined ? byMark(request) : { marked: request, hold: request.hold }
  const started = await startProgram({ ...marked, metered })
  const tree = hold(started, metered)
  const life = watchLife(started, request)
  const faults: unknown[] = []
  const fail = (error: unknown) => {
    faults.push(error)
    life.end('abort')
  }
  const captures = captureBoth(started, request, fail)
  Promise.resolve(tree.begun ?? true)
    .then((begun) => begun && request.onStart?.())
    .catch(fail)
  const ended = await life.ended
  const survivors = await tree.end()
  // It is gone, and what started it tells how, sooner or later.
  if (survivors.length === 0) await withinMs(started.exited, maxExitMs)
  const waitedMs = started.exit()?.cpuMs ?? 0
  request.onCpuMs?.(tree.cpuMs?.(waitedMs) ?? waitedMs)
  await drain(started, captures)
  const exit = started.exit()
  if (exit?.lost === true) faults.push(launcherLost())
  if (faults.length > 0) {
    await Promise.all([captures.stdout.abandon(), captures.stderr.abandon()])
    throw faults[0]
  }
  const [stdout, stderr] = await Promise.all([captures.stdout.finish(), captures.stderr.finish()])
  return {
    exitCode: exit?.exitCode ?? null,
    signal: exit?.signal ?? null,
    stdout,
    stderr,
    ended,
    durationMs: performance.now() - startedAt,
    survivors,
  }
}

const markName = 'HANDRAIL_CALL'

/** Where no process namespace holds them: by what descendants carry, such as a mark in their environment. */
function byMark(request: TreeRequest) {
  const mark = randomBytes(12).toString('hex')
  const marker = `${markName}=${mark}`
  const hold = ({ pid, seen: atStart }: Started, metered: boolean): TreeHold => {
    const tree = identifyTree({ pid, seen: atStart }, marker)
    let seen = { ms: 0, withLeader: false }
    const see = (pids: readonly number[]) => {
      if (metered) seen = { ms: cpuMsOf(pids), withLeader: pids.includes(pid) }
    }
    return {
      end: () => endTree(tree, request.graceMs, see),
      // Of what was still there, only the program itself is waited for.
      cpuMs: (waitedMs) => (seen.withLeader ? Math.max(seen.ms, waitedMs) : seen.ms + waitedMs),
    }
  }
  return { marked: { ...request, env: { ...request.env, [markName]: mark }, marker }, hold }
}

/** Tells when the program ends, or has to. */
function watchLife({ exited }: Started, request: TreeRequest) {
  const { promise: ended, resolve } = Promise.withResolvers<CommandOutcome['ended']>()
  const onAbort = () => end('abort')
  const timer = setTimeout(() => end('timeout'), request.timeoutMs)
  const end = (how: CommandOutcome['ended']) => {
    clearTimeout(timer)
    for (const signal of request.signals) signal.removeEventListener('abort', onAbort)
    resolve(how)
  }
  for (const signal of request.signals) signal.addEventListener('abort', onAbort)
  if (request.signals.some((signal) => signal.aborted)) end('abort')
  void exited.then(() => end('exit'))
  return { ended, end }
}

interface Captures {
  stdout: Capture
  stderr: Capture
}

function captureBoth(started: Started, request: TreeRequest, onFault: (error: unknown) => void): Captures {
  const { maxBytes: stdout, maxStderrBytes: stderr = stdout, sink, onOutput } = request
  const maxBytes = { stdout, stderr }
  const capture = (stream: 'stdout' | 'stderr') =>
    captureOutput(started[stream], {
      name: stream,
      maxBytes: maxBytes[stream],
      sink,
      onText: onOutput && ((text) => onOutput({ stream, text })),
      onFault,
    })
  return { stdout: capture('stdout'), stderr: capture('stderr') }
}

/**
 * Waits for the rest of the output. A process that outlives the command may hold the pipe open for ever, so that silence ends the
 * wait as well: two looks, since a busy event loop runs timers before it reads.
 */
async function drain(started: Started, captures: Captures): Promise<void> {
  const bytes = () => captures.stdout.bytes() + captures.stderr.bytes()
  const deadline = performance.now() + maxDrainMs
  const closed = whenClosed(started)
  for (let silent = 0, before = bytes(); silent < 2 && performance.now() < deadline;) {
    if (await withinMs(closed, silenceMs)) return
    silent = bytes() === before ? silent + 1 : 0
    before = bytes()
  }
  started.release()
}
