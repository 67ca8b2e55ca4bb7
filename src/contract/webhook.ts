import type { Role } from './base/principal.ts'
import type { WebhookEventName } from './mcp/serving.ts'
import type { PendingApproval, RecordedAnswer } from './pending-approval.ts'

/** What a webhook is sent. The body is this as JSON; its form is that of Standard Webhooks 1.0.0. */
export interface WebhookEvent {
  readonly type: WebhookEventName
  /** When it happened, in ISO 8601. */
  readonly timestamp: string
  readonly data: ApprovalNotice
}

/** What a receiver is told of a question. Secrets are redacted; the input is left out. */
export interface ApprovalNotice {
  /** Of the approval: what `handrail approvals allow` and `POST /approvals/<id>` take. */
  readonly id: string
  readonly state: PendingApproval['state']
  readonly tenant: string
  readonly actor: string
  readonly role: Role
  readonly session: string
  readonly callId: string
  /** Canonical name. */
  readonly tool: string
  readonly title: string
  readonly dangerous: boolean
  /** Why a person is asked. */
  readonly reason: string
  /** The body only if the webhook is configured with `"preview": true`. */
  readonly preview: { readonly title: string; readonly body?: string }
  readonly digest: string
  /** Milliseconds since the epoch, like `expiresAt`. */
  readonly askedAt: number
  readonly expiresAt: number
  readonly needed: number
  readonly answers: readonly RecordedAnswer[]
}
