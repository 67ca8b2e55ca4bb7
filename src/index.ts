// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type { ApprovalAnswer, ApprovalRequest, Approver } from './contract/approval.ts'
export type { Consent, ConsentRequest, Consents } from './contract/consent.ts'
export type { AuthorisationAnswer, AuthorisationRequest, DecisionPoint } from './contract/decision-point.ts'
export type { CallRequest, Face, Origin } from './contract/base/call.ts'
export type {
  CommandHook,
  Hook,
  PostToolUseEvent,
  PostToolUseHook,
  PreToolUseAnswer,
  PreToolUseEvent,
  PreToolUseHook,
} from './contract/hook.ts'
export type {
  CommandsConfiguration,
  Configuration,
  LanguageServerConfiguration,
  NetworkConfiguration,
  ProjectConfiguration,
  SandboxConfiguration,
  RuntimeLimits,
  WebSearchConfiguration,
} from './contract/configuration.ts'
export {
  SetupError,
  ToolFailure,
  errorTable,
  setupErrorTable,
  type CallError,
  type ErrorCode,
  type SetupErrorCode,
} from './contract/base/errors.ts'
export type { RuntimeEvent } from './contract/events.ts'
export type {
  BeginRecord,
  ChainFault,
  CheckpointRecord,
  EndRecord,
  EvidenceRecord,
  NoteRecord,
  StoredRecord,
  Verification,
} from './contract/evidence.ts'
export type {
  FormChoice,
  FormField,
  FormSchema,
  Inquiry,
  InquiryAnswer,
  InquiryMatter,
  InquiryRequest,
  Responder,
} from './contract/base/inquiry.ts'
export type { Fault, Json, JsonObject } from './contract/base/json.ts'
export type { Network, Pages, WebRequest, WebResponse } from './contract/base/network.ts'
export type { CompanionGround, Companions } from './contract/base/companion.ts'
export type { Deliverable } from './contract/deliverable.ts'
export type { InstructionBlock, Instructions } from './contract/base/instructions.ts'
export type { ArtifactPart, Artifacts, NamedArtifact, ReadArtifact } from './contract/base/artifacts.ts'
export type { Job, JobCommand, JobEnd, JobOutput, Jobs } from './contract/base/job.ts'
export type { Operation, Plan, PlanContext, Preview } from './contract/base/plan.ts'
export type { Profile } from './contract/base/profile.ts'
export type {
  Budget,
  BudgetUnit,
  Decision,
  Effect,
  Grant,
  Layer,
  Obligation,
  Policy,
  Rule,
  TenantPolicy,
  Verdict,
} from './contract/policy.ts'
export type { Mode, Principal, Role } from './contract/base/principal.ts'
export type {
  CapabilityName,
  DefinitionApproval,
  DiscoveredTool,
  DuplicatePolicy,
  FacedTool,
  HeldDefinition,
  RegisterOptions,
  Registered,
  Registry,
  RegistryView,
  RemoveOptions,
  SchemaChange,
  SchemaUse,
  StateChange,
  ToolQuery,
  ToolStanding,
  ToolState,
} from './contract/registry.ts'
export type {
  Artifact,
  ContentBlock,
  Outcome,
  ResultMetadata,
  ToolOutput,
  ToolResult,
} from './contract/base/result.ts'
export type {
  AvailableSpec,
  AvailableTool,
  BudgetState,
  PolicyChange,
  Preflight,
  Runtime,
  Session,
  SessionApproval,
  SessionModel,
  SessionOptions,
  StepReport,
  ToolRestriction,
  TurnResult,
} from './contract/runtime.ts'
export type { JsonSchema, Repair } from './contract/base/schema.ts'
export type { Supplies } from './contract/base/supplies.ts'
export type {
  ArtifactStore,
  BudgetAnswer,
  BudgetRequest,
  Changes,
  Fact,
  RecordQuery,
  Store,
} from './contract/store.ts'
export type {
  Annotations,
  Capabilities,
  FamiliarAlias,
  FamiliarFace,
  Limits,
  Quarantined,
  Tool,
  ToolContext,
  ToolDefinition,
  ToolReturn,
  ToolSource,
} from './contract/base/tool.ts'
export { importRules, type ImportOptions } from './config/import-rules/import-rules.ts'
export type { ImportedRules, ImportNote } from './config/import-rules/imported-rules.ts'
export { openKeyFiles, type KeyFiles } from './evidence/chain/key-files.ts'
export { verifyEvidence, type VerifyOptions } from './evidence/chain/verify-evidence.ts'
export { exportEvidence, type ExportOptions } from './evidence/export/export-evidence.ts'
export { verifyExport, type ExportVerification } from './evidence/export/verify-export.ts'
export { importEvidence, type ImportReport, type ImportRequest } from './evidence/export/import-evidence.ts'
export { pruneEvidence, type PruneReport, type PruneRequest } from './evidence/prune-evidence.ts'
export { rotateKey, type KeyRotation } from './evidence/chain/rotate-key.ts'
export {
  rebuildArchive,
  type RebuildReport,
  type RebuildRequest,
} from './evidence/archive/rebuild-archive.ts'
export { createNameCodec, providerNames, type NameCodec, type NameLimits } from './kit/name-codec.ts'
export { resultText, toWireResult } from './kit/result/to-wire-result.ts'
export { toolOutput } from './kit/result/tool-output.ts'
export { codeTools, type CodeToolsOptions } from './compose/sources/code-tools.ts'
export { createRuntime } from './compose/create-runtime.ts'
export { resolveOutcome, type ResolveRequest } from './compose/resolve-outcome.ts'
export { declarativeTools } from './compose/sources/declarative-tools.ts'
export {
  defineTool,
  type ContextWith,
  type NoInputSpec,
  type RawSpec,
  type TypedSpec,
} from './define/define-tool.ts'
export type { Difference } from './compose/replay/compare-calls.ts'
export { explainCall, type CallExplanation, type ExplainRequest } from './compose/replay/explain-call.ts'
export {
  replayRun,
  type Divergence,
  type Replay,
  type ReplayRequest,
  type SkippedCall,
} from './compose/replay/replay-run.ts'
export type { RuntimeOptions } from './compose/options/runtime-options.ts'
export { artifactTools } from './compose/sources/artifact-tools.ts'
export { jobTools } from './compose/sources/job-tools.ts'
export type { Authorize, LoginFacts, LoginRequest } from './contract/mcp/login.ts'
export {
  mcpTools,
  type McpLoginOptions,
  type McpLookOptions,
  type McpToolsOptions,
} from './compose/sources/mcp-tools.ts'
export type { ManifestSpec } from './define/to-definition.ts'
export { webTools, type WebToolsOptions } from './compose/sources/web-tools.ts'
export { ToolAdapter } from './define/tool-adapter.ts'
export type { CallFacts, CallObserver, CallStage, TelemetryOptions } from './contract/telemetry.ts'
export { createMetrics, type Metrics } from './telemetry/create-metrics.ts'
export { assembleToolPool, type ToolPool, type ToolPoolRequest } from './policy/assemble-tool-pool.ts'
export { diffSchemas } from './registry/diff/diff-schemas.ts'
