import { ToolFailure } from '../../../contract/base/errors.ts'

/** What a proxy answers when it does not connect a client. */
export interface Refusal {
  readonly status: number
  readonly reason: string
  /** Stands beside the status: some programs show nothing else. */
  readonly title: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Why something was not reached, as an answer of HTTP. What has no place in an answer is left out. */
export function toRefusal(error: unknown): Refusal {
  const { status, reason, message } = toFacts(error)
  const body = `${reason}: ${message.replaceAll(/\s+/g, ' ')}\n`
  return {
    status,
    reason,
    title: `Refused by Handrail (${reason})`,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    },
    body,
  }
}

function toFacts(error: unknown): { status: number; reason: string; message: string } {
  if (!(error instanceof ToolFailure))
    return { status: 502, reason: 'connection_failed', message: 'The connection broke off.' }
  const { code, reason, message } = error
  if (code.startsWith('SCHEMA.')) return { status: 400, reason, message }
  return { status: code.startsWith('TOOL.') ? 502 : 403, reason, message }
}
