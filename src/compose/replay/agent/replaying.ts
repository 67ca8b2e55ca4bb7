import type { KeptRun, RunBook } from '../../../agents/loop/run-book.ts'
import type { RunSettings } from '../../../agents/loop/run-settings.ts'
import type { RunTask, StoredRun, TranscriptNode } from '../../../contract/agent-run.ts'
import type { Session } from '../../../contract/runtime.ts'
import type { Store } from '../../../contract/store.ts'
import type { RuntimeOptions } from '../../options/runtime-options.ts'
import type { RuntimeParts } from '../../runtime-parts.ts'
import type { Difference } from '../compare-calls.ts'
import type { Stage } from '../open-stage.ts'
import type { Leg } from './read-legs.ts'

/** How a run would be started now. What is absent is as it was. */
export type ReplayTask = Pick<
  RunTask,
  'system' | 'instructions' | 'output' | 'maxTurns' | 'contextTokens' | 'presentation'
>

/** What was not replayed, and why. */
export interface SkippedPart {
  readonly run: string
  /** Absent if it is all of the run. */
  readonly turn?: number
  readonly call?: string
  readonly tool?: string
  readonly reason: string
}

/** The first place where a run would go another way. */
export interface AgentDivergence {
  /** The run, or one that it started. */
  readonly run: string
  readonly session: string
  /** Absent if it is the run itself that would not start so. */
  readonly turn?: number
  /** Of one of the calls of the turn. */
  readonly call?: string
  readonly tool?: string
  /** At least one. */
  readonly differences: readonly Difference[]
}

/** A run as it would start now. */
export interface Place {
  readonly session: Session
  readonly settings: RunSettings
  readonly model: StoredRun['model']
}

/** A run that would not start so. */
export interface NoPlace {
  readonly differences: readonly Difference[]
}

/** A replay under way. */
export interface Replaying {
  readonly stage: Stage
  readonly store: Pick<Store, 'records' | 'digest'>
  readonly book: RunBook
  readonly options: RuntimeOptions
  readonly context: ReturnType<RuntimeParts['tenants']['of']>['context']
  readonly task: ReplayTask
  readonly found: Found
  /** Replays a run that starts in this place. */
  replay(run: KeptRun, place: Place): Promise<AgentDivergence | undefined>
}

/** What a replay has found so far. */
export interface Found {
  turns: number
  calls: number
  /** Calls that went as they did. */
  readonly done: Set<string>
  readonly children: string[]
  readonly skipped: SkippedPart[]
  readonly policies: Set<string>
}

/** A run while it is replayed. */
export interface Walk {
  readonly run: KeptRun
  readonly place: Place
  readonly nodes: readonly TranscriptNode[]
  readonly legs: readonly Leg[]
  readonly replaying: Replaying
}
