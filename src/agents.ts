// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type {
  ChildAgents,
  ChildReport,
  ChildWish,
  Worker,
  WorkerOrder,
  WorkerPool,
  WorkerReport,
} from './contract/services/child-agents.ts'
export type {
  MessageReport,
  NewMessage,
  NewTeam,
  SentMessage,
  Team,
  TeamMember,
  TeamPlace,
  Teams,
} from './contract/services/teams.ts'
export type {
  AgentsConfiguration,
  NamedModelConfiguration,
  WorkerPoolConfiguration,
} from './contract/configuration.ts'
export type {
  AgentMessage,
  AgentModel,
  AgentRun,
  AgentRuns,
  ModelPrice,
  RunEndReason,
  RunEvent,
  RunJob,
  RunResult,
  RunTask,
  RunUsage,
  StoredRun,
  TranscriptNode,
} from './contract/agent-run.ts'
export type { RunOptions, StepOptions } from './contract/runtime.ts'
export type { AgentOptions } from './compose/options/agent-options.ts'
export type {
  LoadedNow,
  LoadedSkill,
  Skill,
  SkillContents,
  SkillCopy,
  SkillDefinition,
  SkillFile,
  SkillIssue,
  SkillList,
  SkillNarrowing,
  SkillOrigin,
  SkillRegistry,
  SkillRule,
  Skills,
} from './contract/services/skill.ts'
export { createSkillRegistry, type SkillOptions } from './compose/sources/skill-registry.ts'
export { delegationTools } from './compose/sources/delegation-tools.ts'
export {
  createAgentDefinitionRegistry,
  type AgentDefinitionOptions,
} from './compose/sources/agent-definition-registry.ts'
export type {
  AgentDefinition,
  AgentDefinitionIssue,
  AgentDefinitionList,
  AgentDefinitionOrigin,
  AgentDefinitionRegistry,
  AgentLimits,
  RegisteredAgentDefinition,
} from './contract/services/agent-definition.ts'
