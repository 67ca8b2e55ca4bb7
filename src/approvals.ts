// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type {
  ApprovalDecision,
  AskedReach,
  ApprovalQuery,
  PendingApproval,
  PendingApprovals,
  RecordedAnswer,
  StepResult,
  WaitingCall,
} from './contract/pending-approval.ts'
export type { WebhookEventName, WebhookReceiver } from './contract/mcp/serving.ts'
export type { ApprovalNotice, WebhookEvent } from './contract/webhook.ts'
export { verifyWebhook, type ReceivedWebhook, type VerifiedWebhook } from './kit/approvals/verify-webhook.ts'
export { sendWebhooks, type SendWebhooksOptions } from './compose/webhooks/send-webhooks.ts'
export type { AskedApproval } from './doors/base/describe-end.ts'
export type { SdkDoorOptions } from './doors/base/door-options.ts'
export type { AnsweredBy, RecordedSdkAnswer } from './doors/base/record-answers.ts'
export type { SuspendedApproval, SuspendedCalls } from './doors/base/suspended-approval.ts'
