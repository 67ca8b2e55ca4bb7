// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type { Difference } from './compose/replay/compare-calls.ts'
export { explainCall, type CallExplanation, type ExplainRequest } from './compose/replay/explain-call.ts'
export {
  replayRun,
  type Divergence,
  type Replay,
  type ReplayRequest,
  type SkippedCall,
} from './compose/replay/replay-run.ts'
export {
  replayAgentRun,
  type AgentReplay,
  type AgentReplayRequest,
} from './compose/replay/agent/replay-agent-run.ts'
export type { AgentDivergence, ReplayTask, SkippedPart } from './compose/replay/agent/replaying.ts'
