import type { CallRequest } from '../../contract/call-request.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Preflight, Runtime, Session } from '../../contract/runtime.ts'
import type { SkillRegistry } from '../../contract/services/skill.ts'
import type { Store } from '../../contract/store.ts'
import type { BeginRecord } from '../../contract/evidence.ts'
import type { Mode } from '../../contract/base/principal.ts'
import { readCalls, type RecordedCall } from '../../evidence/read-calls.ts'
import { digest } from '../../kit/json/digest.ts'
import { assembleRuntime } from '../create-runtime.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'
import { readPastConsents, type PastConsents } from './consents-at.ts'
import { createRecording, type Recording } from './create-recording.ts'
import { openSessionLike, toSessionLike } from './open-session-like.ts'
import { toRecordedTools } from './recorded-tools.ts'

/** A session in the real pipeline whose tools, people, hooks and clock are those of a recording. Nothing leaves memory. */
export interface Replayer {
  readonly runtime: Runtime
  /** Digest of the policy that decided about the call played last; undefined before the first. */
  policy(): string | undefined
  /** The mode of its session now. */
  mode(): Mode
  /** Makes the call once more. `ran` says whether its tool was run. */
  play(call: RecordedCall): Promise<{ call: RecordedCall; ran: boolean }>
  /** Decides about the call once more. */
  preflight(call: RecordedCall): Promise<Preflight>
  close(): Promise<void>
}

interface ReplayerRequest {
  /** Any call of the session. */
  call: RecordedCall
  /** Where it was recorded: its consents count as they stood then, the states of its tools as they are now. */
  store: Pick<Store, 'facts'>
  options: RuntimeOptions
}

/** `refused` where no such session can be opened any more. Throws a SetupError where the options make no runtime. */
export async function openReplayer({
  call: first,
  store,
  options,
}: ReplayerRequest): Promise<Replayer | { refused: SetupError }> {
  const recording = createRecording(first)
  const consents = readPastConsents(store.facts('consent', first.begin.tenant))
  const runtime = await assembleRuntime(toReplayOptions(options, recording), options.hooks)
  await runtime.store.append([], { facts: store.facts('tool') })
  const session = openSession(runtime, first)
  if (session instanceof SetupError) {
    await runtime.close()
    return { refused: session }
  }
  const load = async (call: RecordedCall): Promise<void> => {
    recording.load(call, scopeOf(call, consents))
    const { at, decision, consent } = call.begin
    const facts = consents.moveTo(at, decision?.layer === 'consent' ? consent : undefined)
    if (facts.length > 0) await runtime.store.append([], { facts })
  }
  let policy: string | undefined
  return {
    runtime,
    policy: () => policy,
    mode: () => session.mode,
    async play(call) {
      await load(call)
      const { tool } = call.begin
      const result = await session.call(tool, call.input ?? {}, toCallOptions(call, recording, runtime))
      const [now] = readCalls(runtime.store.records({ call: result.callId }))
      if (now === undefined) throw new Error(`The replay of the call "${call.begin.call}" left no evidence.`)
      policy = now.begin.policy
      return { call: now, ran: recording.ran }
    },
    async preflight(call) {
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

function openSession(runtime: Runtime, { begin }: RecordedCall): Session | SetupError {
  try {
    return openSessionLike(runtime, toSessionLike(begin))
  } catch (error) {
    if (error instanceof SetupError) return error
    throw error
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
