// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type { ArtifactPart, Artifacts, NamedArtifact, ReadArtifact } from './contract/services/artifacts.ts'
export type { PastCall, PastCalls, PastCallWish } from './contract/services/history.ts'
export type { InstructionBlock, Instructions } from './contract/services/instructions.ts'
export type { PlanMode, PlanModeReason } from './contract/services/plan-mode.ts'
export type { Todo, Todos } from './contract/services/todo.ts'
export type { HeldPlan, Review } from './contract/tool/plan.ts'
export type { Job, JobCommand, JobEnd, JobOutput, Jobs } from './contract/services/job.ts'
export type { ContentAside, MediaSummary, PersonAnswer } from './contract/base/result.ts'
export type { JsonType, NamedSchemas, Repair, Subschema } from './contract/base/schema.ts'
export type { SessionResourceContext, SessionResources } from './contract/services/session-resources.ts'
export type {
  NewStep,
  NewTask,
  StepClaim,
  StepQuery,
  StepScope,
  StepState,
  StepUpdate,
  StepWorker,
  Task,
  TaskCounts,
  TaskOperation,
  TaskQuery,
  TaskState,
  TaskStep,
  Tasks,
} from './contract/services/tasks.ts'
export type {
  NewSchedule,
  Schedule,
  ScheduledWork,
  ScheduleOutlook,
  ScheduleRun,
  Schedules,
} from './contract/services/schedules.ts'
export type { RuntimeSchedules } from './contract/scheduler.ts'
export type {
  ExternalMemory,
  Memory,
  MemoryFact,
  MemoryIssue,
  MemoryOptions,
  MemoryOwner,
  MemoryQuery,
  MemoryScope,
  MemorySource,
  NewMemory,
} from './contract/services/memory.ts'
export type { MemoryConfiguration } from './contract/configuration.ts'
export type { ExtractionOptions, ExtractionReport, ListedMemory, RuntimeMemory } from './contract/memory.ts'
export { memoryTools } from './compose/sources/memory-tools.ts'
export { scheduleTools } from './compose/sources/schedule-tools.ts'
export type { ModelSettings } from './contract/tool/services.ts'
export { settingTools, type SettingToolsOptions } from './compose/sources/setting-tools.ts'
export { triggerTools, type TriggerToolsOptions } from './compose/sources/trigger-tools.ts'
export { skillTools } from './compose/sources/skill-tools.ts'
export { taskTools } from './compose/sources/task-tools.ts'
export type {
  Annotations,
  Capabilities,
  Compatibility,
  CompatibleAlias,
  CompatiblePresentation,
  ConsentPolicy,
  Deprecation,
  Limits,
  OutputFollower,
  Permission,
  Quarantined,
  Safety,
  SideEffect,
} from './contract/tool/tool.ts'
export type {
  CommandsConfiguration,
  LanguageServerConfiguration,
  ModelSettingConfiguration,
  TriggerConfiguration,
  SkillsConfiguration,
  WebSearchConfiguration,
} from './contract/configuration.ts'
export type {
  FeedChange,
  FeedHost,
  LongProgram,
  OpenFeed,
  OriginClient,
  ProgramListener,
  ProgramRequest,
  Programs,
  SourceOutage,
  ToolFeed,
  Web,
} from './contract/mcp/tool-feed.ts'
export type {
  CapabilityName,
  DefinitionApproval,
  DiscoveredTool,
  DuplicatePolicy,
  PendingDefinition,
  RegisterOptions,
  Registered,
  Registry,
  RegistryView,
  RemoveOptions,
  SchemaChange,
  SchemaUse,
  StateChange,
  ToolQuery,
  ToolState,
  ToolStatus,
} from './contract/registry.ts'
export type { CommonSpec, PlannedBy, ServiceName } from './define/tool-spec.ts'
export type { InputSchema } from './define/describe-schema.ts'
export type { FromSchema } from './define/infer-input.ts'
export type { StandardIssue, StandardResult, StandardSchema } from './define/standard-schema.ts'
export type { SdkMedia, SdkResult } from './doors/base/describe-end.ts'
export { agentDefinitionTools } from './compose/sources/agent-definition-tools.ts'
export { planTools } from './compose/sources/plan-tools.ts'
export { userTools } from './compose/sources/user-tools.ts'
export { assembleToolPool, type ToolPool, type ToolPoolRequest } from './policy/assemble-tool-pool.ts'
export { diffSchemas } from './registry/diff/diff-schemas.ts'
export type { AdoptedManifest, AdoptOptions } from './doors/base/adopt-options.ts'
export type { ToolGenerator } from './define/finish-generator.ts'
