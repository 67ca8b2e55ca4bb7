import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Json } from '../../../contract/base/json.ts'
import { LoginNeeded } from './login-needed.ts'
import { oneLine } from '../../../kit/text/one-line.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** A server that cannot be reached. What its operator has to know is in `handrail mcp status`. */
export function toDownFailure(server: string, error: unknown, retryAfterMs: number): ToolFailure {
  const refused = toLoginFailure(server, error) ?? findRefusal(error)
  if (refused !== undefined) return refused
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'upstream_down',
    message: `The MCP server "${server}" cannot be reached, so nothing was done: ${say(error)} Go on without it, or try again later; "handrail mcp status" tells the operator more.`,
    data: { server, ...(retryAfterMs > 0 && { retryAfterMs }) },
  })
}

/** What went wrong with a call that was sent. `tool` is the canonical name. */
export function toCallFailure(
  error: unknown,
  {
    server,
    tool,
    advise,
  }: { server: string; tool: string; advise?: ((texts: readonly string[]) => string) | undefined },
): unknown {
  if (error instanceof ToolFailure) return error
  const refused = toLoginFailure(server, error) ?? findRefusal(error)
  if (refused !== undefined) return refused
  const { code, status, data } = factsOf(error)
  const advice = advise?.([messageOf(error)]) ?? ''
  if (typeof code === 'number')
    return new ToolFailure({
      reason: 'upstream_error',
      message: `The MCP server "${server}" refused the call of "${tool}" (${code}): ${say(error)}${advice === '' ? ' Correct the input, or use another tool.' : advice}`,
      data: { server, code, ...(data !== undefined && { data }) },
    })
  if (code === 'REQUEST_TIMEOUT')
    return new ToolFailure({
      code: 'TOOL.TIMEOUT',
      reason: 'timed_out',
      message: `The MCP server "${server}" did not answer the call of "${tool}" in time. It may have been done.`,
    })
  const flaw = findFlaw(error)
  if (flaw !== undefined)
    return new ToolFailure({
      reason: 'upstream_error',
      message: `The MCP server "${server}" answered the call of "${tool}" in a form that the protocol does not have: ${flaw}`,
      data: { server },
    })
  if (status === 429)
    return new ToolFailure({
      code: 'PROVIDER.UNAVAILABLE',
      reason: 'rate_limited',
      message: `The MCP server "${server}" limits how often it is asked. Try again later.`,
    })
  if (status === 401 || status === 403)
    return new ToolFailure({
      code: 'PROVIDER.UNAVAILABLE',
      reason: 'upstream_down',
      message: `The MCP server "${server}" does not take the credentials that it is given (${status}). The operator has to mend its "headers".`,
    })
  return toLostFailure(error, { server, tool })
}

/**
 * What went wrong with a task that its server had begun: but for an answer of the server, Handrail does not know how far it came. Never
 * leads to a call that is sent again.
 */
export function toTaskFailure(error: unknown, about: { server: string; tool: string }): unknown {
  if (error instanceof ToolFailure || typeof factsOf(error).code === 'number') return error
  return toLostFailure(error, about)
}

function toLostFailure(error: unknown, { server, tool }: { server: string; tool: string }): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'connection_lost',
    message: `The connection to the MCP server "${server}" was lost while "${tool}" ran: ${say(error)} Whether it was done is not known, and it was not tried again. Look before you call it once more.`,
    data: { server },
  })
}

/** What is wrong with an answer that is there and cannot be read, and what to do about it. */
function findFlaw(error: unknown): string | undefined {
  const { code } = factsOf(error)
  if (code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE')
    return `${say(error)} It may have been done. The operator can have the server spoken to in another revision, with "protocol" in mcp.json.`
  const what = isNoMessage(error)
    ? 'its answer is no message of JSON-RPC.'
    : error instanceof SyntaxError
      ? `its answer is not JSON: ${say(error)}`
      : code === 'CLIENT_HTTP_UNEXPECTED_CONTENT'
        ? say(error)
        : undefined
  return (
    what &&
    `${what} It may have been done. The operator has to look at the server, or at what stands before it.`
  )
}

/** What the SDK holds a message against says no. */
function isNoMessage(error: unknown): boolean {
  return error instanceof Error && /^\$?ZodError$/.test(error.name)
}

/** A session that the server does not know any more: it did nothing of what it was asked. */
export function isUnknownSession(error: unknown): boolean {
  return factsOf(error).status === 404
}

/** Whether the server answered, if only to refuse. */
export function isAnswer(error: unknown): boolean {
  if (error instanceof LoginNeeded) return true
  const { code, status } = factsOf(error)
  return typeof code === 'number' || status === 429 || findFlaw(error) !== undefined
}

/** Whether the server will not answer on this connection any more. */
export function isLost(error: unknown): boolean {
  if (error instanceof LoginNeeded) return false
  if (error instanceof ToolFailure) return findRefusal(error) !== undefined
  const { code, status } = factsOf(error)
  return (
    typeof code !== 'number' &&
    code !== 'REQUEST_TIMEOUT' &&
    status === undefined &&
    findFlaw(error) === undefined
  )
}

/** A server that wants a login first did nothing. */
function toLoginFailure(server: string, error: unknown): ToolFailure | undefined {
  if (error instanceof LoginNeeded)
    return new ToolFailure({
      code: 'PROVIDER.UNAVAILABLE',
      reason: 'login_needed',
      message: `The MCP server "${server}" did nothing. ${error.message} The operator has to do that; go on without it.`,
      data: { server },
    })
  return error instanceof Error && error.cause !== undefined ? toLoginFailure(server, error.cause) : undefined
}

/** The guard of the network says no in its own words. */
function findRefusal(error: unknown): ToolFailure | undefined {
  if (error instanceof ToolFailure && error.code.startsWith('SANDBOX.')) return error
  return error instanceof Error && error.cause !== undefined ? findRefusal(error.cause) : undefined
}

interface Facts {
  readonly code: string | number | undefined
  readonly status: number | undefined
  /** What a JSON-RPC error carries. */
  readonly data: Json | undefined
}

/** JSON-RPC codes are numbers, those of the connection are words. */
function factsOf(error: unknown): Facts {
  if (!(error instanceof Error)) return { code: undefined, status: undefined, data: undefined }
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number')
      ? error.code
      : undefined
  const status = 'status' in error && typeof error.status === 'number' ? error.status : undefined
  // Each message is parsed JSON.
  const data = 'data' in error && typeof code === 'number' ? (error.data as Json | undefined) : undefined
  return { code, status, data }
}

/** The message of a foreign error, on its way into a sentence. */
function say(error: unknown): string {
  const line = oneLine(messageOf(error), 300)
  return line === '' ? '' : `${line.replace(/[.!]$/, '')}.`
}
