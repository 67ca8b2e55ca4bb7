// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type { ArtifactPart, Artifacts, NamedArtifact, ReadArtifact } from './contract/services/artifacts.ts'
export type { PastCall, PastCalls, PastCallWish } from './contract/services/history.ts'
export type { InstructionBlock, Instructions } from './contract/services/instructions.ts'
export type { PlanMode, PlanModeReason } from './contract/services/plan-mode.ts'
export type { Todo, Todos } from './contract/services/todo.ts'
export type { ApprovalBinding } from './contract/base/approval-binding.ts'
export type { PartCalls, PartLook, PartWish } from './contract/tool/part-calls.ts'
export type { HeldPlan, Review } from './contract/tool/plan.ts'
export type { Job, JobCommand, JobEnd, JobOutput, Jobs } from './contract/services/job.ts'
export type { ContentAside, MediaSummary, PersonAnswer } from './contract/base/result.ts'
export type { JsonType, NamedSchemas, Repair, Subschema } from './contract/base/schema.ts'
export type { SessionResourceContext, SessionResources } from './contract/services/session-resources.ts'
export type {
  AgentTasks,
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
  TaskOwner,
  TaskQuery,
  TaskState,
  TaskStep,
  Tasks,
  WholeTask,
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
export { capletTools } from './compose/sources/caplet-tools.ts'
export type { CodeMode, ProgramLimits, ProgramReport } from './contract/services/code-mode.ts'
export { codeModeTools, type CodeModeToolsOptions } from './compose/sources/code-mode-tools.ts'
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
export { defineLongTool, type Asked, type LongSpec, type News } from './define/define-long-tool.ts'
export type { AskedJob, JobCallback, JobNews, LongTool, StartedJob } from './contract/services/long-tool.ts'
export { searchTools } from './compose/sources/search-tools.ts'
export { taskTools } from './compose/sources/task-tools.ts'
export type { ToolMatch, ToolMatches, ToolSearch } from './contract/services/tool-search.ts'
export { createToolIndex } from './registry/search/create-tool-index.ts'
export type { IndexedTool, ToolIndex } from './contract/registry.ts'
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
  CapletsConfiguration,
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
export type { ToolsOptions } from './contract/runtime.ts'
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
export {
  composeTools,
  valueFrom,
  type CompositionSpec,
  type PartSpec,
} from './define/composition/compose-tools.ts'
export type { Reference, Template } from './define/composition/template.ts'
