import type { PendingApproval } from '../../contract/pending-approval.ts'
import type { WebhookEventName } from '../../contract/mcp/serving.ts'
import type { WebhookEvent } from '../../contract/webhook.ts'
import { replaceHidden } from '../../kit/text/hidden-characters.ts'
import { shorten } from '../../kit/text/shorten.ts'

/** Characters of a preview that are sent. */
const mostPreview = 20_000
/** Characters of a section, which Slack takes at most 3,000 of. */
const mostSection = 2_500

/** What happened to a question, as receivers are told. */
export function toEvent(
  type: WebhookEventName,
  approval: PendingApproval,
  { at, withPreview }: { at: number; withPreview: boolean },
): WebhookEvent {
  const { id, state, tenant, request, digest, askedAt, expiresAt, needed, answers } = approval
  const { title, body } = request.preview
  return {
    type,
    timestamp: new Date(at).toISOString(),
    data: {
      id,
      state,
      tenant,
      actor: request.principal.actor,
      role: request.principal.role,
      session: request.session,
      callId: request.callId,
      tool: request.tool,
      title: request.title,
      dangerous: request.dangerous,
      reason: request.because.reason,
      preview: { title, ...(withPreview && { body: shorten(body, mostPreview) }) },
      digest,
      askedAt,
      expiresAt,
      needed,
      answers,
    },
  }
}

/** The same as a message of Slack: `text` for notifications, `blocks` (Block Kit) for the channel. */
export function toSlackMessage({ type, data }: WebhookEvent): object {
  const { id, tool, actor, tenant, preview, reason, dangerous, expiresAt } = data
  const what = `${tool} for ${actor} of ${tenant}`
  const text = `${headlineOf(type, data)}: ${what}`
  const section = (said: string) => ({ type: 'section', text: { type: 'mrkdwn', text: said } })
  const lines = [
    `*${escape(headlineOf(type, data))}*: ${escape(what)}${dangerous ? ' (dangerous)' : ''}`,
    escape(shorten(preview.title, 500)),
    ...(type === 'approval.requested' ? [`Why: ${escape(shorten(reason, 500))}`] : []),
  ]
  const shown =
    preview.body === undefined || preview.body === ''
      ? []
      : [section(`\`\`\`${escape(shorten(preview.body, mostSection)).replaceAll('```', "'''")}\`\`\``)]
  const answer =
    type === 'approval.requested'
      ? [
          section(
            `\`handrail approvals allow ${id}\` or \`handrail approvals deny ${id}\`, until <!date^${Math.floor(expiresAt / 1_000)}^{date_num} {time_secs}|${new Date(expiresAt).toISOString()}>`,
          ),
        ]
      : []
  return { text: escape(shorten(text, 500)), blocks: [section(lines.join('\n')), ...shown, ...answer] }
}

function headlineOf(type: WebhookEventName, { state, answers }: WebhookEvent['data']): string {
  if (type === 'approval.requested') return 'Waits for a yes'
  if (type === 'approval.expired') return 'Expired without an answer'
  const by = answers.map((answer) => answer.by || 'a person').join(', ')
  return `${state === 'denied' ? 'Denied' : 'Allowed'} by ${by || 'a person'}`
}

/** Slack reads `<…>` as links and mentions (its "Formatting text for app surfaces"). */
function escape(text: string): string {
  return replaceHidden(text, () => '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}
