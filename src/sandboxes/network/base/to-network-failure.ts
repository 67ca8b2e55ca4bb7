import { ToolFailure } from '../../../contract/base/errors.ts'

/** What went wrong on the way to a server, as a `ToolFailure`; what the guard refused is given back as it is. */
export function toNetworkFailure(
  error: unknown,
  about: { url: string; deadline: AbortSignal; timeoutMs: number },
): unknown {
  if (error instanceof ToolFailure) return error
  const { url, deadline, timeoutMs } = about
  if (deadline.aborted) return late(url, `in full within ${timeoutMs} ms`)
  const code = codeOf(error)
  if (/^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$/.test(code)) return late(url, 'for too long')
  // The rest of it may hold names and paths of this machine.
  return new ToolFailure({
    reason: 'connection_failed',
    message: `"${url}" cannot be read (${code}). Check the address, or try again later.`,
    data: { code },
  })
}

function late(url: string, how: string): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.TIMEOUT',
    reason: 'timed_out',
    message: `"${url}" did not answer ${how}, so reading it was stopped. Try again later, or go on without it.`,
  })
}

/** Of several attempts, the last one's. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors.at(-1))
  if (!(error instanceof Error)) return 'no answer'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
