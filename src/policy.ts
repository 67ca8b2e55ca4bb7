// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export {
  foreseePolicy,
  type CaseOutcome,
  type ForeseenCall,
  type Foresight,
  type ForesightRequest,
} from './compose/foresight/foresee-policy.ts'
export { suggestForApproval } from './compose/foresight/suggest-for-approval.ts'
export {
  suggestRules,
  type Suggestions,
  type SuggestRequest,
  type WithoutRule,
} from './compose/foresight/suggest-rules.ts'
export type { CaseOperation, PolicyCase } from './config/policy-cases.ts'
export type { Decided } from './compose/simulation/shadow-policy.ts'
export type { IdleRule } from './policy/find-idle-rules.ts'
export type { NamedCall } from './compose/foresight/judged-call.ts'
export type { SuggestedRule } from './compose/foresight/suggested-rule.ts'
export type { LetThrough } from './compose/foresight/try-rule.ts'
export { importRules, type ImportOptions } from './config/import-rules/import-rules.ts'
export type { ImportedRules, ImportNote } from './config/import-rules/imported-rules.ts'
export type { Profile } from './contract/base/profile.ts'
export type { Consent, ConsentRequest, Consents } from './contract/consent.ts'
export type {
  Aborted,
  AbortRequest,
  AbortScope,
  Pause,
  PauseRequest,
  RunningCallRow,
  Stops,
  StopScope,
} from './contract/base/stop.ts'
export type { AuthorisationAnswer, AuthorisationRequest, DecisionPoint } from './contract/decision-point.ts'
export type {
  CommandHook,
  Hook,
  HookMatcher,
  PostToolUseEvent,
  PostToolUseHook,
  PreToolUseAnswer,
  PreToolUseEvent,
  PreToolUseHook,
} from './contract/hook.ts'
export type {
  Alternative,
  ApproverRule,
  Budget,
  BudgetUnit,
  CallUnit,
  ModelUnit,
  Decision,
  Grant,
  Layer,
  Obligation,
  TenantPolicy,
  ToolPrice,
  Verdict,
} from './contract/policy.ts'
export type {
  AvailableSpec,
  AvailableTool,
  BudgetState,
  PolicyChange,
  SessionApproval,
  StepReport,
} from './contract/runtime.ts'
