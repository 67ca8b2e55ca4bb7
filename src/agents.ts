// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type {
  AgentModel,
  AgentRun,
  AgentRuns,
  ModelPrice,
  RunEndReason,
  RunEvent,
  RunResult,
  RunTask,
  RunUsage,
  StoredRun,
  TranscriptNode,
} from './contract/agent-run.ts'
export type { RunOptions, StepOptions } from './contract/runtime.ts'
