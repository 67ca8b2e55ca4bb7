import type { CallRequest } from '../../contract/call-request.ts'
import type { BeginRecord } from '../../contract/evidence.ts'
import type { Preflight, Runtime, Session } from '../../contract/runtime.ts'
import type { SkillRegistry } from '../../contract/services/skill.ts'
import type { Store } from '../../contract/store.ts'
import { readCalls, type RecordedCall } from '../../evidence/read-calls.ts'
import { digest } from '../../kit/json/digest.ts'
import { assembleRuntime } from '../assemble-runtime.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'
import { readPastConsents, type PastConsents } from './consents-at.ts'
import { createRecording, type Recording } from './create-recording.ts'
import { toRecordedTools } from './recorded-tools.ts'

/** The real pipeline, in which tools, people, hooks and the clock are those of a recording. Nothing leaves memory. */
export interface Stage {
  readonly runtime: Runtime
  /** Makes the call once more in this session. `ran` says whether its tool was run. */
  play(session: Session, call: RecordedCall): Promise<{ call: RecordedCall; ran: boolean }>
  /** Decides about the call once more. */
  preflight(session: Session, call: RecordedCall): Promise<Preflight>
  close(): Promise<void>
}

interface StageRequest {
  readonly tenant: string
  /** When what is played began, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Where it was recorded: its consents count as they stood then, the states of its tools as they are now. */
  readonly store: Pick<Store, 'facts'>
  readonly options: RuntimeOptions
}

/** Throws a SetupError where the options make no runtime. */
export async function openStage({ tenant, startedAt, store, options }: StageRequest): Promise<Stage> {
  const recording = createRecording(startedAt)
  const consents = readPastConsents(store.facts('consent', tenant))
  const runtime = await assembleRuntime(toReplayOptions(options, recording), options.hooks)
  await runtime.store.append([], { facts: store.facts('tool') })
  const load = async (call: RecordedCall): Promise<void> => {
    recording.load(call, scopeOf(call, consents))
    const { at, decision, consent } = call.begin
    const facts = consents.moveTo(at, decision?.layer === 'consent' ? consent : undefined)
    if (facts.length > 0) await runtime.store.append([], { facts })
  }
  return {
    runtime,
    async play(session, call) {
      await load(call)
      const { tool } = call.begin
      const result = await session.call(tool, call.input ?? {}, toCallOptions(call, recording, runtime))
      const [now] = readCalls(runtime.store.records({ call: result.callId }))
      if (now === undefined) throw new Error(`The replay of the call "${call.begin.call}" left no evidence.`)
      return { call: now, ran: recording.ran }
    },
    async preflight(session, call) {
      await load(call)
      const { origin, consent, idempotencyKey } = toCallOptions(call, recording, runtime)
      return session.preflight(call.begin.tool, call.input ?? {}, {
        ...(origin !== undefined && { origin }),
        ...(consent !== undefined && { consent }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      })
    },
    close: () => runtime.close(),
  }
}

/** Everything of the options that decides, with a recording in the place of everything that acts. */
function toReplayOptions(options: RuntimeOptions, recording: Recording): RuntimeOptions {
  const {
    store: _,
    artifacts: _a,
    archive: _b,
    undo: _u,
    signing: _c,
    approve: _d,
    onEvent: _e,
    observers: _f,
    telemetry: _g,
    elicit: _h,
    ...deciding
  } = options
  const registry = options.services?.['skillRegistry'] as SkillRegistry | undefined
  return {
    ...deciding,
    tools: toRecordedTools(options.tools ?? [], recording),
    // What was loaded then is what the recording says.
    ...(registry !== undefined && {
      services: { ...options.services, skillRegistry: { ...registry, isIntact: () => true } },
    }),
    feeds: [],
    hooks: [recording.hook],
    now: () => recording.now(),
    approve: recording.approve,
  }
}

function toCallOptions(
  { begin, result }: RecordedCall,
  recording: Recording,
  runtime: Runtime,
): Omit<CallRequest, 'tool' | 'input'> {
  const { toolCallId, origin } = begin
  const consent = result?.error?.code === 'AUTH.CONSENT_REQUIRED' ? result.error.data?.['consent'] : undefined
  return {
    origin,
    signal: recording.signal,
    ...(toolCallId !== undefined && { id: toolCallId }),
    ...keyOf(begin, runtime),
    ...(typeof consent === 'string' && { consent }),
  }
}

/** Evidence has no keys, only what stands for them, and that does as well. A tool that finds its key in its input finds it there again. */
function keyOf(
  { tenant, tool, idempotencyKey }: BeginRecord,
  { registry }: Runtime,
): Pick<CallRequest, 'idempotencyKey'> {
  const keyFrom = registry.view(tenant).find(tool)?.definition.keyFrom ?? 'call'
  return idempotencyKey === undefined || keyFrom !== 'call' ? {} : { idempotencyKey: digest(idempotencyKey) }
}

/**
 * The scope of a plan is not in the evidence. What it decided is: calls that one yes for the session let through, or one standing
 * consent, have its scope; every other call has one of its own.
 */
function scopeOf({ begin }: RecordedCall, consents: PastConsents): string {
  const own = begin.call
  if (begin.consent === undefined) return own
  if (begin.decision?.layer === 'session-approval') return begin.consent
  return consents.scopeOf(begin.consent) ?? own
}
