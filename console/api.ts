import { signal } from '@preact/signals'
import type { BudgetRow, ConsentRow } from '../src/console/api/budget-rows.ts'
import type { SessionRow } from '../src/console/api/records/sessions.ts'
import type { ComparedPair } from '../src/console/api/records/run-replay.ts'
import type { CallRow } from '../src/console/api/call-row.ts'
import type { RecordRow } from '../src/console/api/records/list-records.ts'
import type { ChainRow, NoteRow, Verified } from '../src/console/api/evidence-rows.ts'
import type { AbortedRow, PauseRow } from '../src/console/api/pause-row.ts'
import type { PendingApproval } from '../src/contract/pending-approval.ts'
import type { StoredRun, TranscriptNode } from '../src/contract/agent-run.ts'
import type { EvidenceRecord } from '../src/contract/evidence.ts'
import type { Decision, Effect } from '../src/contract/policy.ts'
import type { StepReport } from '../src/contract/runtime.ts'
import type { Json, JsonObject } from '../src/contract/base/json.ts'
import type { JsonSchema } from '../src/contract/base/schema.ts'

import type { ClientRow, PlannedRow, RegistryRow, TrialRow } from '../src/console/api/server-setup-rows.ts'
import type { FaultyEntry, ServerRow } from '../src/console/api/server-row.ts'

import type { Access } from '../src/console/api/access-row.ts'
import { everyTenant, type ConsoleRole } from '../src/contract/mcp/console-login.ts'
import { mayDo, tenantsOf, usualTenant, type Holder } from '../src/console/base/roles.ts'
import type { Tried as TriedRow, WouldBe as WouldBeRow } from '../src/console/api/tools/try-tool.ts'
import type { Overview } from '../src/console/api/overview-row.ts'

import type {
  FaultRow,
  ForesightRow,
  PolicyPage,
  RuleRow,
  SuggestionRow,
  VersionRow,
  WithoutRuleRow,
} from '../src/console/api/policy-rows.ts'

export type { FaultRow, ForesightRow, PolicyPage, RuleRow, SuggestionRow, VersionRow }
export type { SessionRow, ComparedPair, Access, FaultyEntry, Overview, ServerRow }
export type { AbortedRow, ClientRow, PauseRow, PlannedRow, RegistryRow, TrialRow }
export type { TriedRow, WouldBeRow }
export type { BudgetRow, CallRow, ChainRow, ConsentRow, NoteRow, RecordRow, Verified }
export type { PendingApproval, StoredRun, TranscriptNode, EvidenceRecord, Json, JsonObject }

/** What `/api/me` says. */
export interface Me {
  readonly actor: string
  readonly name: string
  /** The highest one anywhere. */
  readonly role: ConsoleRole
  readonly tenant?: string
  readonly roles: readonly { readonly tenant: string; readonly role: ConsoleRole }[]
  readonly csrf?: string
  readonly version: string
  readonly project: string
  readonly sandbox: string
  readonly store: string
  readonly policyVersion: number
}

export interface ToolRow {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly version: string
  readonly source: string
  readonly digest: string
  readonly sideEffect: string
  readonly safety: string
  readonly tags: readonly string[]
  readonly state: string
  readonly blocked?: string
  readonly advice?: string
  readonly outage?: string
  readonly changed: readonly string[]
}

export interface ToolDetail {
  readonly definition: JsonObject & { readonly inputSchema: JsonSchema }
  readonly digest: string
  readonly source: string
  readonly status: { readonly state: string; readonly blocked?: string; readonly advice?: string }
  readonly pending?: {
    readonly digest: string
    readonly version: string
    readonly changes: readonly {
      readonly field: string
      readonly was: Json
      readonly is: Json
      readonly diff: string
    }[]
  }
  readonly usage: {
    readonly calls: number
    readonly ok: number
    readonly failed: number
    readonly denied: number
    readonly p95Ms?: number
  }
  readonly history: readonly { readonly at: number; readonly event: string; readonly message: string }[]
}

export interface CallDetail {
  readonly records: readonly {
    readonly sequence: number
    readonly hash: string
    readonly record: EvidenceRecord
  }[]
  readonly input?: JsonObject
  readonly result?: JsonObject
  readonly run?: string
  readonly chain: {
    readonly records: number
    readonly signed?: { readonly sequence: number; readonly at: number; readonly key: string }
  }
  readonly explanation?: {
    readonly operations: readonly Json[]
    readonly policyVersion?: number
    readonly now:
      | {
          readonly preflight: {
            readonly effect: Effect
            readonly steps: readonly StepReport[]
            readonly decision?: Decision
          }
        }
      | { readonly obstacle: string }
    readonly differences: readonly { readonly what: string; readonly was: string; readonly now: string }[]
  }
}

export interface ApprovalDetail {
  readonly approval: PendingApproval
  readonly before: readonly CallRow[]
  readonly earlier: { readonly calls: number; readonly ok: number; readonly denied: number }
}

/** A rule for a question, or why there is none. */
export interface RuleOffer {
  readonly suggestion?: SuggestionRow
  readonly file?: string
  readonly digest?: string
  readonly reason?: string
}

export interface SuggestionsAnswer {
  readonly suggested: readonly SuggestionRow[]
  readonly withoutRule: readonly WithoutRuleRow[]
}

export interface VersionDetail {
  readonly text: string
  readonly diff: string
}

export interface RunDetail {
  readonly run: StoredRun
  readonly transcript: readonly TranscriptNode[]
  readonly calls: readonly CallRow[]
  readonly children: readonly StoredRun[]
  readonly files: readonly { readonly path: string; readonly action: string; readonly call: string }[]
  readonly artifacts: readonly {
    readonly digest: string
    readonly name?: string
    readonly mimeType: string
    readonly bytes: number
    readonly call: string
  }[]
  readonly approvals: readonly {
    readonly call: string
    readonly tool: string
    readonly at: number
    readonly decision: string
    readonly by?: string
    readonly reason?: string
  }[]
}

/** What the replay of a run found. */
export interface RunReplay {
  readonly turns: number
  readonly calls: number
  readonly replayed: number
  readonly skipped: readonly { readonly call?: string; readonly tool?: string; readonly reason: string }[]
  readonly divergence?: {
    readonly run: string
    readonly turn?: number
    readonly call?: string
    readonly tool?: string
    readonly differences: readonly {
      readonly what: string
      readonly recorded: string
      readonly now: string
    }[]
  }
}

/** Who is logged in; undefined until that is known, null if they are not. */
export const me = signal<Me | null | undefined>(undefined)

/** Where a person logs in who has no link; undefined if nowhere. */
export const login = signal<Refusal['login']>(undefined)

/** Whether the person has at least this role in a tenant. Default: the one that pages show if none is named. */
export function may(role: ConsoleRole, tenant?: string): boolean {
  const holder = holderOf(me.value)
  return mayDo(holder, role, tenant ?? usual())
}

/** The tenant that pages show if none is named. */
export function usual(): string {
  return usualTenant(holderOf(me.value))
}

function holderOf(person: Me | null | undefined): Holder {
  return { roles: new Map(person?.roles.map((each) => [each.tenant, each.role] as const)) }
}

/** In which tenants the person may change what stands; undefined if in all of them. */
export function operatedTenants(): readonly string[] | undefined {
  const holder = holderOf(me.value)
  return mayDo(holder, 'operator', everyTenant) ? undefined : tenantsOf(holder, [], 'operator')
}

/** Whether the person may change what stands: tools, consents. */
export function mayOperate(tenant?: string): boolean {
  return may('operator', tenant)
}

/** What the API refused, in its words. */
export class ApiError extends Error {
  readonly status: number
  /** Such as `approval_over`, if the refusal has one. */
  readonly code: string | undefined

  constructor(status: number, message: string, code?: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Asks the API; with a body, changes something. */
export async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const response = await fetch(path, {
    headers: {
      accept: 'application/json',
      ...(body !== undefined && {
        'content-type': 'application/json',
        'x-csrf-token': me.value?.csrf ?? '',
      }),
    },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Answer & Refusal
  if (response.ok) return answer
  if (response.status === 401) {
    login.value = answer.login
    me.value = null
  }
  throw new ApiError(response.status, answer.detail ?? response.statusText, answer.code)
}

/** What a refusal says of itself. */
interface Refusal {
  readonly detail?: string
  readonly code?: string
  readonly login?: { readonly name: string; readonly path: string; readonly logOut: string }
}

/** Ends the visit. */
export async function leave(): Promise<void> {
  await ask('/api/leave', {})
  await logIn()
}

export async function logIn(): Promise<void> {
  try {
    me.value = await ask<Me>('/api/me')
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    me.value = null
  }
}
