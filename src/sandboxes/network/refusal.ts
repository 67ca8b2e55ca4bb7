import { ToolFailure } from '../../contract/errors.ts'

/** What a proxy answers where it connects nobody. */
export interface Refusal {
  readonly status: number
  readonly reason: string
  /** What a person reads; one line. */
  readonly message: string
}

/** Why something was not reached, as an answer of HTTP. What has no place in an answer is left out. */
export function toRefusal(error: unknown): Refusal {
  if (!(error instanceof ToolFailure))
    return { status: 502, reason: 'connection_failed', message: 'The connection could not be made.' }
  const { code, reason, message } = error
  return { status: statusOf(code), reason, message: message.replaceAll(/\s+/g, ' ') }
}

function statusOf(code: string): number {
  if (code.startsWith('SCHEMA.')) return 400
  return code.startsWith('TOOL.') ? 502 : 403
}
