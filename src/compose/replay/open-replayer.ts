import { SetupError } from '../../contract/base/errors.ts'
import type { Mode } from '../../contract/base/principal.ts'
import type { Preflight, Runtime, Session } from '../../contract/runtime.ts'
import type { Store } from '../../contract/store.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'
import { openSessionLike, toSessionLike } from './open-session-like.ts'
import { openStage, type Stage } from './open-stage.ts'

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
  /** Where it was recorded. */
  store: Pick<Store, 'facts'>
  options: RuntimeOptions
}

/** `refused` where no such session can be opened any more. Throws a SetupError where the options make no runtime. */
export async function openReplayer({
  call: { begin },
  store,
  options,
}: ReplayerRequest): Promise<Replayer | { refused: SetupError }> {
  const stage = await openStage({ tenant: begin.tenant, startedAt: begin.at, store, options })
  try {
    return toReplayer(stage, openSessionLike(stage.runtime, toSessionLike(begin)))
  } catch (error) {
    await stage.close()
    if (error instanceof SetupError) return { refused: error }
    throw error
  }
}

/** One session of a stage. */
export function toReplayer(stage: Stage, session: Session): Replayer {
  let policy: string | undefined
  return {
    runtime: stage.runtime,
    policy: () => policy,
    mode: () => session.mode,
    async play(call) {
      const played = await stage.play(session, call)
      policy = played.call.begin.policy
      return played
    },
    preflight: (call) => stage.preflight(session, call),
    close: () => stage.close(),
  }
}
