import type { ToolResult } from '../../../contract/base/result.ts'
import type { Registered } from '../../../contract/registry.ts'
import type { Job } from '../../../contract/services/job.ts'
import { resultText } from '../../../kit/result/to-wire-result.ts'
import { pageOf } from '../../output/page-of.ts'
import { tellEnd, toEndNote } from '../../record/note-end.ts'
import { sessionAborted, sessionOver } from '../../../contract/agent-host.ts'
import type { JobOf } from '../../state/job-callbacks.ts'
import type { HeldJob } from '../../state/job-table.ts'
import type { CallScope } from '../../state/scope.ts'
import { askJob, type Long } from './ask-job.ts'
import type { JobWriter } from './job-writer.ts'
import { runSegment } from './run-segment.ts'
import { viewStored, withLine, type StoredJob } from './stored-job.ts'

/** What the job of a long tool stands on. */
export interface JobGround {
  readonly writer: JobWriter
  readonly long: Long
  readonly registered: Registered | undefined
  readonly scope: CallScope
  /** Whether the session can be opened again by its id. */
  readonly staysOpen: boolean
}

type End = NonNullable<StoredJob['end']>

const longestTimerMs = 2 ** 31 - 1
/** So often in a row a job may fail to answer. */
const mostFailures = 5

/** Asks a job until it has ended, is stopped, or its session is over. */
export class FollowedJob implements HeldJob {
  readonly id: string
  readonly ended: Promise<void>
  /** What its last piece returned; undefined as long as it runs, and if it did not come to its own end. */
  result: ToolResult | undefined
  onLine: ((line: string) => void) | undefined
  readonly #ground: JobGround
  readonly #over = Promise.withResolvers<void>()
  readonly #polling = new AbortController()
  #wake: () => void = () => {}
  #isWoken = false
  #isFollowed = false
  #stopped: string | undefined
  #failures = 0

  constructor(ground: JobGround) {
    this.#ground = ground
    this.id = ground.writer.job.id
    this.ended = this.#over.promise
    const unhide = ground.scope.tenant.jobCallbacks.hide(this.#jobOf)
    void this.ended.then(unhide)
  }

  view(): Job {
    return viewStored(this.#job)
  }

  read({ offset, maxBytes }: { offset: number; maxBytes: number }) {
    return pageOf(this.#job.said, { offset, maxBytes })
  }

  stop(reason: string): void {
    if (this.#stopped !== undefined || this.#job.end !== undefined) return
    this.#stopped = reason
    this.#polling.abort(reason)
    this.#ring()
    // What is being started is not waited for: once it began, it is ended.
    if (!this.#isFollowed) this.#over.resolve()
  }

  /** It did not begin. */
  abandon(): void {
    this.#over.resolve()
  }

  /** Follows it from now on. `begin` says first that it began, or how it ended at once. */
  follow(begin: () => Promise<End | 'runs' | 'lost'> = async () => 'runs'): void {
    this.#isFollowed = true
    const { tenant } = this.#ground.scope
    const unlisten = tenant.jobCallbacks.listen(this.#jobOf, () => this.#ring())
    begin()
      .then((how) => (how === 'runs' ? this.#run() : how === 'lost' ? undefined : this.#end(how)))
      .catch((cause: unknown) => this.#log(cause))
      .finally(() => {
        unlisten()
        this.#over.resolve()
      })
  }

  #log(cause: unknown): void {
    const { call, tool } = this.#job
    this.#ground.scope.tenant.logError({ call, tool, cause })
  }

  get #jobOf(): JobOf {
    return { tenant: this.#ground.scope.session.principal.tenant, job: this.id }
  }

  get #job(): StoredJob {
    return this.#ground.writer.job
  }

  #ring(): void {
    this.#isWoken = true
    this.#wake()
  }

  async #run(): Promise<void> {
    const { long, scope } = this.#ground
    const deadline =
      long.longestMs === undefined ? Number.POSITIVE_INFINITY : this.#job.startedAt + long.longestMs
    const now = (): number => scope.tenant.now()
    for (;;) {
      const left = Math.max(0, deadline - now())
      await this.#pause(Math.min(long.everyMs * 2 ** this.#failures, left, longestTimerMs))
      if (this.#stopped !== undefined) return this.#giveUp(this.#stopped)
      if (now() >= deadline) return this.#end(await this.#stopWork('its time was over', 'timeout'))
      const end = await this.#ask().catch((cause: unknown) => this.#retry(cause))
      if (end === 'lost') return
      if (end !== undefined) return this.#end(end)
    }
  }

  /** A store that does not take what became of a job is tried again, and the job is asked again. */
  #retry(cause: unknown): undefined {
    this.#log(cause)
    this.#failures = Math.min(this.#failures + 1, mostFailures)
  }

  /** Until it is time to ask, or there is news. */
  async #pause(ms: number): Promise<void> {
    if (this.#stopped === undefined && !this.#isWoken)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    this.#isWoken = false
  }

  /** Asks it once. Undefined if it goes on. */
  async #ask(): Promise<End | 'lost' | undefined> {
    const { writer, long, registered, scope } = this.#ground
    const posted = scope.tenant.jobCallbacks.posted(this.#jobOf)
    const callbacks = posted.map(({ payload }) => payload)
    const about = { long, registered, callbacks, signal: this.#polling.signal }
    const answer = await askJob(writer.job, about, scope)
    if (this.#stopped !== undefined && answer.kind !== 'ended') return undefined
    if (answer.kind === 'unasked') return this.#miss(answer.result)
    this.#failures = 0
    const { job } = writer
    const documents = posted.map(({ taken }) => taken)
    if (answer.kind === 'running') {
      const { state = job.state, progress } = answer
      if (progress !== '') this.onLine?.(progress)
      const change = { polls: job.polls + 1, state, said: withLine(job.said, progress) }
      return (await writer.write(change, { documents })) ? undefined : 'lost'
    }
    const { result } = answer
    this.result = result
    const said = withLine(job.said, result.ok ? resultText(result) : (result.error?.message ?? ''))
    if (!(await writer.write({ polls: job.polls + 1, said }, { documents }))) return 'lost'
    return result.ok ? this.#ends('completed') : this.#ends('failed', result.error?.message)
  }

  /** A job that could not be asked is asked again, unless that is denied or does not come right. */
  async #miss({ error, outcome }: ToolResult): Promise<End | undefined> {
    const why = error?.message ?? 'it did not answer'
    const comesRight = error?.reason === 'mode_denied' || outcome === 'waiting'
    if (comesRight) return undefined
    const isForNow =
      /^(PROVIDER|TOOL)\./.test(error?.code ?? '') &&
      error?.reason !== 'invalid_news' &&
      error?.reason !== 'invalid_state'
    if (isForNow && ++this.#failures < mostFailures) return undefined
    return this.#stopWork(why, 'failed')
  }

  /** Its session is over, or a caller wants it to end. */
  async #giveUp(reason: string): Promise<void> {
    const { writer, long, staysOpen } = this.#ground
    const isOver = reason === sessionOver || reason === sessionAborted
    if (isOver && long.survives && staysOpen) return void (await writer.write({ writer: '' }))
    return this.#end(await this.#stopWork(reason, isOver ? 'interrupted' : 'stopped'))
  }

  /** Ends the work itself, if its tool can. */
  async #stopWork(reason: string, how: End['how']): Promise<End> {
    const { writer, long, scope } = this.#ground
    const { id, input, state } = writer.job
    if (long.stop === undefined) return this.#ends(how, reason)
    const { ok, error } = await runSegment(
      writer.job,
      {
        name: 'stop',
        isLast: true,
        run: (context) => long.stop?.({ job: id, input, state, callbacks: [], reason }, context),
      },
      scope,
    )
    return this.#ends(
      how,
      ok ? reason : `${reason}; its work could not be ended, and may go on: ${error?.message ?? ''}`,
    )
  }

  #ends(how: End['how'], reason?: string): End {
    return {
      how,
      at: this.#ground.scope.tenant.now(),
      ...(reason !== undefined && reason !== '' && { reason }),
    }
  }

  /** Its end is written with the note of it, once, whatever the process. */
  async #end(end: End): Promise<void> {
    const { writer, scope, registered } = this.#ground
    const place = { scope, registered, toolCallId: writer.job.toolCallId }
    const note = toEndNote({ ...viewStored({ ...writer.job, end }) }, place)
    if (await writer.write({ phase: 'ended', end, writer: '' }, { note })) tellEnd(this.view(), place)
  }
}
