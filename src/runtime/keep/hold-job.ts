import type { EffectHistory } from '../../contract/base/effects.ts'
import type { CommandOutcome } from '../../contract/services/sandbox.ts'
import type { Job, JobCommand, JobEnd } from '../../contract/services/job.ts'
import { newId } from '../../kit/new-id.ts'
import { describeGuarded, describeHeldBack, describeSetAside } from '../../kit/text/show-guarded.ts'
import { boundSink, createArtifactRoom } from '../output/artifact-room.ts'
import type { CallScope } from '../state/scope.ts'
import type { JobLog } from '../state/job-log.ts'
import { createJobLog } from './create-job-log.ts'
import type { HeldJob } from '../state/job-table.ts'
import type { Admitted } from '../state/call-state.ts'
import { createHostPermit } from '../permission/permit-host.ts'
import { createLivePermit } from '../permission/permit-changes.ts'
import { toLiveHold } from '../permission/to-hold.ts'
import type { RunWatch } from '../limits/run-watch.ts'
import { byteRedactorOf, redactorOf } from '../record/treatments.ts'
import { noteEnd } from '../record/note-end.ts'
import { toCallError } from '../state/to-call-error.ts'

/** What a job stands on: the call that starts it. */
export interface JobContext {
  readonly admitted: Admitted
  readonly scope: CallScope
  readonly watch: RunWatch
  /** Globs of what programs must not see. */
  readonly hidden: () => readonly string[]
  /** Keeps what is replaced or removed. */
  readonly history: EffectHistory | undefined
}

/** The longest that a timer can wait, 24 days. */
const unlimitedMs = 2 ** 31 - 1
/** Kept of each stream beside the log, for what the sandbox says itself, and for what the program says of places that are kept from it. */
const captureBytes = 65_536

/** A job that has not begun: `begun` starts it, resolves when its program runs, and rejects if it cannot. */
export function holdJob(
  command: JobCommand,
  context: JobContext,
): { job: HeldJob; begun: () => Promise<void> } {
  const { admitted, scope } = context
  const now = () => scope.tenant.now()
  const controller = new AbortController()
  const over = Promise.withResolvers<void>()
  const { artifacts, limits } = scope.tenant
  const sink = boundSink(artifacts, createArtifactRoom(limits.artifactBytes))
  const log = createJobLog(sink, byteRedactorOf(admitted.registered, scope))
  const first = {
    id: newId('job', now()),
    kind: 'command' as const,
    call: admitted.call.id,
    tool: admitted.registered.definition.name,
    title: redactorOf(admitted.registered, scope).text(command.title),
    startedAt: now(),
  }
  let reason: string | undefined
  let end: JobEnd | undefined

  const view = (): Job => ({ ...first, bytes: log.bytes(), ...(end !== undefined && { end }) })
  const finish = (how: JobEnd): void => {
    end = how
    const { registered, call } = admitted
    noteEnd(view(), { scope, registered, toolCallId: call.toolCallId })
    over.resolve()
  }
  const begun = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let runs = false
      const onStart = (): void => {
        runs = true
        resolve()
      }
      run(command, { context, log, signal: controller.signal, onStart })
        .then((outcome) => toEnd(outcome, { log, at: now(), reason }))
        .then((how) => {
          finish(how)
          resolve()
        })
        .catch(async (cause: unknown) => {
          await log.abandon()
          if (runs) finish(toFailed(cause, first.tool, now()))
          else over.resolve()
          reject(cause)
        })
    })
  const stop = (why: string): void => {
    reason ??= why
    controller.abort(why)
  }
  const read: HeldJob['read'] = (options) => log.read(options)
  return { job: { id: first.id, read, view, ended: over.promise, stop }, begun }
}

interface Running {
  context: JobContext
  log: JobLog
  signal: AbortSignal
  onStart: () => void
}

async function run(command: JobCommand, { context, log, signal, onStart }: Running): Promise<CommandOutcome> {
  const { admitted, scope, hidden, history } = context
  const { commands } = scope.tenant.sandbox.enter(admitted.profile, {
    access: 'write',
    hidden,
    permitHost: createHostPermit(admitted, scope),
    permitChanges: createLivePermit({ admitted, scope }),
    hold: toLiveHold(admitted, scope),
    ...(history !== undefined && { history }),
  })
  const { title: _, timeoutMs = unlimitedMs, ...program } = command
  return await commands.run({
    ...program,
    live: true,
    timeoutMs,
    maxBytes: captureBytes,
    signal,
    onStart,
    onOutput: (chunk) => log.add(chunk),
    onHeldBack: (held) => log.add({ stream: 'stderr', text: `handrail: ${describeHeldBack(held)}\n` }),
  })
}

async function toEnd(
  outcome: CommandOutcome,
  { log, at, reason }: { log: JobLog; at: number; reason: string | undefined },
): Promise<JobEnd> {
  const { ended, exitCode, signal, survivors, setAside = [], network } = outcome
  const notes = describeGuarded(outcome)
  const artifact = await log.finish()
  return {
    how: ended === 'abort' ? 'stopped' : ended,
    exitCode,
    signal,
    at,
    survivors,
    ...(ended === 'abort' && { reason: reason ?? 'Handrail was closed' }),
    ...(setAside.length > 0 && { how: 'failed', reason: `it made ${describeSetAside(setAside)}` }),
    ...(artifact !== undefined && { artifact }),
    ...(network !== undefined && { network }),
    ...(notes.length > 0 && { notes }),
  }
}

function toFailed(cause: unknown, tool: string, at: number): JobEnd {
  const { message } = toCallError(cause, tool)
  return { how: 'failed', exitCode: null, signal: null, at, reason: message, survivors: [] }
}
