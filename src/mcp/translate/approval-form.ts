import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import type { ApprovalAnswer, ApprovalRequest } from '../../contract/approval.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { replaceHidden } from '../../kit/text/hidden-characters.ts'

const decisions = ['allow_once', 'allow_for_session', 'deny'] as const
const maxBodyLength = 4_000

/** The question to a person as a form that MCP clients show (`elicitation/create`). */
export function toApprovalForm(request: ApprovalRequest): ElicitRequestFormParams {
  return {
    mode: 'form',
    message: describe(request),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description: clean(
            `allow_once: this call only. allow_for_session: also later calls of ${request.tool} on ${request.scope}. deny: ${request.ran ? 'what it did is dropped' : 'it does not run'}.`,
          ),
          enum: [...decisions],
        },
      },
      required: ['decision'],
    },
  }
}

/** A client's answer to the form. Only an accepted form with a known decision can allow; everything else denies. */
export function fromApprovalForm(answer: unknown): ApprovalAnswer {
  const metadata = { via: 'mcp_elicitation' }
  if (!isPlainObject(answer) || answer['action'] !== 'accept') {
    const cancelled = isPlainObject(answer) && answer['action'] === 'cancel'
    // A client without a person cancels by itself.
    if (cancelled)
      return {
        decision: 'deny',
        reason: 'cancelled in the client',
        metadata: { ...metadata, unanswered: true },
      }
    return { decision: 'deny', reason: 'declined in the client', metadata }
  }
  const content = isPlainObject(answer['content']) ? answer['content'] : {}
  const decision = decisions.find((known) => known === content['decision'])
  if (decision === undefined)
    return { decision: 'deny', reason: 'the client accepted without a known decision', metadata }
  return { decision, metadata }
}

function describe(request: ApprovalRequest): string {
  const { preview, because } = request
  const lines = [
    request.ran
      ? `Keep what "${request.title}" (${request.tool}) did? It has run, and nothing of it is in force.`
      : `Allow "${request.title}" (${request.tool})?`,
    preview.title,
    shorten(preview.body),
    request.dangerous ? 'This tool is marked dangerous.' : '',
    `Asked because: ${because.reason} (${because.layer}, ${because.rule})`,
    `Scope: ${request.scope}`,
    ...request.hookNotes.map((note) => `Note: ${note}`),
    request.principal.role === 'main' ? '' : `Asked for a ${request.principal.role} agent.`,
  ]
  return clean(lines.filter((line) => line !== '').join('\n'))
}

function shorten(body: string): string {
  if (body.length <= maxBodyLength) return body
  return `${body.slice(0, maxBodyLength)}\n… ${body.length - maxBodyLength} more characters are not shown`
}

/** Control, direction and invisible characters could make a client show something else than what would happen. */
function clean(text: string): string {
  return replaceHidden(text.replaceAll('\r\n', '\n'), () => '\ufffd')
}
