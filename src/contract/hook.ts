import type { Json, JsonObject } from './base/json.ts'
import type { Principal } from './base/principal.ts'
import type { Permission } from './tool/tool.ts'
import type { ToolResult } from './base/result.ts'

/** Which calls a hook sees. Patterns match whole canonical names, `*` stands for any letters; no pattern means all. */
export interface HookMatcher {
  tools?: readonly string[]
  tags?: readonly string[]
}

export interface PreToolUseEvent {
  readonly callId: string
  readonly tool: string
  readonly permission: Permission
  readonly tags: readonly string[]
  readonly input: JsonObject
  readonly principal: Principal
  readonly session: string
  readonly project: string
  /** The call is not made: a preflight asks what would become of it. */
  readonly preflight: boolean
}

/** A PreToolUse hook may deny or add notes; it can never allow what a rule denies or asks. */
export type PreToolUseAnswer =
  | { decision: 'allow'; notes?: readonly string[] }
  | { decision: 'deny'; reason?: string }

export interface PostToolUseEvent extends PreToolUseEvent {
  readonly result: ToolResult
}

/** Runs before the person is asked. Throwing, timing out or answering anything else denies. */
export interface PreToolUseHook extends HookMatcher {
  readonly name: string
  /** Default 30,000. */
  readonly timeoutMs?: number
  before(event: PreToolUseEvent, signal: AbortSignal): PreToolUseAnswer | Promise<PreToolUseAnswer>
}

/** Observes results. What it returns is ignored; what it throws is logged. */
export interface PostToolUseHook extends HookMatcher {
  readonly name: string
  readonly timeoutMs?: number
  after(event: PostToolUseEvent, signal: AbortSignal): void | Promise<void>
}

export type Hook = PreToolUseHook | PostToolUseHook

/** A hook as the configuration file names it: a program that gets the event as JSON on stdin. */
export interface CommandHook extends HookMatcher {
  on: 'PreToolUse' | 'PostToolUse'
  /** argv; no shell. */
  command: readonly string[]
  timeoutMs?: number
}

/** What a PreToolUse command hook may print: one JSON object. */
export interface CommandHookAnswer {
  decision: 'allow' | 'deny'
  reason?: string
  notes?: readonly string[]
  [extra: string]: Json | readonly string[] | undefined
}
