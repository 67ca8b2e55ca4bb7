// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export { createRuntime } from './compose/create-runtime.ts'
export type { RuntimeOptions } from './compose/options/runtime-options.ts'
export { artifactTools } from './compose/sources/artifact-tools.ts'
export { codeTools, type CodeToolsOptions } from './compose/sources/code-tools.ts'
export { declarativeTools } from './compose/sources/declarative-tools.ts'
export { jobTools } from './compose/sources/job-tools.ts'
export { webTools, type WebToolsOptions } from './compose/sources/web-tools.ts'
export type { ApprovalAnswer, ApprovalRequest, Approver, AskingParent } from './contract/approval.ts'
export type { Origin, Presentation } from './contract/base/call.ts'
export type {
  Elicitation,
  ElicitationHandler,
  ElicitationParams,
  ElicitationRequest,
  ElicitationResult,
  FormChoice,
  FormField,
  FormSchema,
} from './contract/base/elicitation.ts'
export { SetupError, ToolFailure, type CallError, type ErrorCode } from './contract/base/errors.ts'
export { errorTable, type Actor, type NextStep } from './contract/errors/error-table.ts'
export { setupErrorTable, type SetupErrorCode } from './contract/errors/setup-errors.ts'
export type { Issue, Json, JsonObject } from './contract/base/json.ts'
export type { Operation, Plan, PlanContext, Preview } from './contract/tool/plan.ts'
export type { Mode, Principal, Role } from './contract/base/principal.ts'
export type {
  Artifact,
  ContentBlock,
  Outcome,
  ResultMetadata,
  ToolOutput,
  ToolResult,
} from './contract/base/result.ts'
export type { JsonSchema } from './contract/base/schema.ts'
export type { Services } from './contract/tool/services.ts'
export type { Tool, ToolContext, ToolDefinition, ToolReturn, ToolSource } from './contract/tool/tool.ts'
export type { CallRequest } from './contract/call-request.ts'
export type {
  Configuration,
  ProjectConfiguration,
  RuntimeLimits,
  UndoConfiguration,
} from './contract/configuration.ts'
export type { SessionModel } from './contract/base/call.ts'
export type { Deliverable } from './contract/deliverable.ts'
export type { RuntimeEvent } from './contract/events.ts'
export type { EventName } from './contract/evidence.ts'
export type { Effect, Policy, Rule } from './contract/policy.ts'
export type { PresentedTool } from './contract/registry.ts'
export type {
  Preflight,
  Runtime,
  Session,
  SessionOptions,
  ToolRestriction,
  TurnResult,
  UndoableQuery,
} from './contract/runtime.ts'
export { defineTool } from './define/define-tool.ts'
export type { InferInput } from './define/infer-input.ts'
export type { ManifestSpec } from './define/to-definition.ts'
export type { ContextWith, NoInputSpec, RawSpec, TypedSpec } from './define/tool-spec.ts'
export { ToolAdapter } from './define/tool-adapter.ts'
export { createNameCodec, providerNames, type NameCodec, type NameLimits } from './kit/names/name-codec.ts'
export { resultText, toWireResult } from './kit/result/to-wire-result.ts'
export { toolOutput } from './kit/result/tool-output.ts'
