import { signal } from '@preact/signals'
import type { BudgetRow, ConsentRow } from '../src/console/api/budget-rows.ts'
import type { SessionRow } from '../src/console/api/sessions.ts'
import type { ComparedPair } from '../src/console/api/run-replay.ts'
import type { CallRow } from '../src/console/api/call-row.ts'
import type { ChainRow, NoteRow, Verified } from '../src/console/api/evidence-rows.ts'
import type { PendingApproval } from '../src/contract/pending-approval.ts'
import type { StoredRun, TranscriptNode } from '../src/contract/agent-run.ts'
import type { EvidenceRecord } from '../src/contract/evidence.ts'
import type { Decision, Effect } from '../src/contract/policy.ts'
import type { StepReport } from '../src/contract/runtime.ts'
import type { Json, JsonObject } from '../src/contract/base/json.ts'

import type { FaultyEntry, ServerRow } from '../src/console/api/server-row.ts'

import type { Overview } from '../src/console/api/overview-row.ts'

export type { SessionRow, ComparedPair, FaultyEntry, Overview, ServerRow }
export type { BudgetRow, CallRow, ChainRow, ConsentRow, NoteRow, Verified }
export type { PendingApproval, StoredRun, TranscriptNode, EvidenceRecord, Json, JsonObject }

/** What `/api/me` says. */
export interface Me {
  readonly actor: string
  readonly role: 'viewer' | 'approver' | 'operator' | 'admin'
  readonly tenant?: string
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
  readonly definition: JsonObject
  readonly digest: string
  readonly source: string
  readonly status: { readonly state: string; readonly blocked?: string; readonly advice?: string }
  readonly pending?: {
    readonly digest: string
    readonly version: string
    readonly changes: readonly { readonly field: string; readonly was: Json; readonly is: Json }[]
  }
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

/** Whether the person may change what stands: tools, consents. */
export function mayOperate(): boolean {
  const role = me.value?.role
  return role === 'operator' || role === 'admin'
}

/** What the API refused, in its words. */
export class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
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
  const answer = (await response.json()) as Answer & { readonly detail?: string }
  if (response.ok) return answer
  if (response.status === 401) me.value = null
  throw new ApiError(response.status, answer.detail ?? response.statusText)
}

export async function logIn(): Promise<void> {
  try {
    me.value = await ask<Me>('/api/me')
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    me.value = null
  }
}
