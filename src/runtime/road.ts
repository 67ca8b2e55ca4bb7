import type { Approver } from '../contract/approval.ts'
import type { Call } from '../contract/call.ts'
import type { RuntimeLimits } from '../contract/configuration.ts'
import type { Evidence } from '../contract/evidence.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import type { PostToolUseHook, PreToolUseHook } from '../contract/hook.ts'
import type { Bounds, PolicyEngine } from '../contract/policy.ts'
import type { Mode, Principal } from '../contract/principal.ts'
import type { Registered, Registry } from '../contract/registry.ts'
import type { ToolResult } from '../contract/result.ts'
import type { Sandbox } from '../contract/sandbox.ts'
import type { SchemaChecker } from '../contract/schema.ts'
import type { ToolDefinition } from '../contract/tool.ts'
import type { ArtifactStore, Store } from '../contract/store.ts'
import type { Redactor } from '../kit/redact.ts'
import type { RunningCalls } from './running-calls.ts'
import { isStopped, startPassage } from './passage.ts'
import type { Closing } from './run-watch.ts'
import { admit } from './steps/admit.ts'
import { approve } from './steps/approve.ts'
import { authorise } from './steps/authorise.ts'
import { checkInput } from './steps/check-input.ts'
import { checkOutput } from './steps/check-output.ts'
import { find } from './steps/find.ts'
import { askHooks } from './steps/hook.ts'
import { plan } from './steps/plan.ts'
import { record } from './steps/record.ts'
import { run } from './steps/run.ts'

/** What the road stands on, one for a runtime. */
export interface Ground {
  readonly project: string
  readonly registry: Registry
  readonly checker: SchemaChecker
  readonly policy: PolicyEngine
  readonly sandbox: Sandbox
  readonly store: Store
  readonly evidence: Evidence
  readonly artifacts: ArtifactStore
  readonly redactor: Redactor
  readonly limits: Required<Omit<RuntimeLimits, 'callsPerSession'>> & { callsPerSession: number | undefined }
  readonly hooks: { readonly before: readonly PreToolUseHook[]; readonly after: readonly PostToolUseHook[] }
  readonly supplies: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, string>>
  /** Names of the environment variables that commands see. */
  readonly env: readonly string[]
  readonly running: RunningCalls
  now(): number
  /** For causes that no caller may see. */
  logFault(about: { call: string; tool: string; cause: unknown }): void
}

/** What a session adds. */
export interface Traveller {
  readonly id: string
  readonly principal: Principal
  readonly mode: Mode
  readonly grant: Bounds
  readonly approver: Approver | undefined
  /** `tool scope` keys the person allowed for this session. In memory only. */
  readonly grants: Set<string>
  readonly counts: { calls: number; repeats: Map<ToolDefinition, Map<string, number>> }
  /** Tells running calls that the session ends. */
  readonly closing: Closing
  exclusion(registered: Registered): string | undefined
  /** Names a model may be pointed to. */
  names(): Iterable<string>
  watched(): boolean
  emit(event: Omit<RuntimeEvent, 'sequence' | 'at' | 'tenant' | 'session' | 'actor' | 'role'>): void
}

/** The ground and the session, as each step sees them. */
export interface Road {
  readonly ground: Ground
  readonly session: Traveller
}

/**
 * The road of a call, from top to bottom. Each step takes a call that passed the step before, and returns one that got
 * further or one that ends; every end is recorded. Nothing else in Handrail runs a tool.
 */
export async function travel(call: Call, signal: AbortSignal | undefined, road: Road): Promise<ToolResult> {
  const found = find(startPassage(call, signal), road)
  if (isStopped(found)) return record(found, road)

  const checked = checkInput(found, road)
  if (isStopped(checked)) return record(checked, road)

  const authorised = authorise(checked, road)
  if (isStopped(authorised)) return record(authorised, road)

  const planned = await plan(authorised, road)
  if (isStopped(planned)) return record(planned, road)

  const hooked = await askHooks(planned, road)
  if (isStopped(hooked)) return record(hooked, road)

  const approved = await approve(hooked, road)
  if (isStopped(approved)) return record(approved, road)

  const admitted = await admit(approved, road)
  if (isStopped(admitted) || 'replayed' in admitted) return record(admitted, road)

  const ran = await run(admitted, road)
  if (isStopped(ran)) return record(ran, road)

  return record(await checkOutput(ran, road), road)
}
