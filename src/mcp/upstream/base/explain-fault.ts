import { SetupError } from '../../../contract/base/errors.ts'
import { showLine } from '../../../kit/text/show-safely.ts'
import { FetchFailed } from '../../packages/fetch-failed.ts'
import { findRemedy, type Attempt, type Program } from './find-remedy.ts'
import { LoginNeeded } from './login-needed.ts'
import type { ServerLog } from './server-log.ts'

/** Why a server could not be connected to. */
export interface ConnectionFault {
  /** One line, shortened and safe to show where it has words of others. */
  readonly message: string
  /** What the operator could do, where that is known. Of several lines. */
  readonly remedy: string | undefined
  /** What its program said beside the protocol, safe to show on a terminal. */
  readonly log: string
  /** The few lines of that which tell most. */
  readonly keyLines: readonly string[]
}

/** Says why a server could not be connected to, and what to do about it. */
export function explainFault(error: unknown, about: Attempt): ConnectionFault {
  const { server, log } = about
  const { transport } = server
  // On the web nothing is said beside the protocol, and what is noted of an answer stands in the fault.
  if (transport.kind === 'http')
    return { remedy: undefined, ...explainAnswer(error, transport.url), log: '', keyLines: [] }
  return {
    message: explainProgram(error, log),
    // A fault of the setup itself says what to do.
    remedy: remedyOf(error, about, transport),
    log: log.read(),
    keyLines: log.readKeyLines(mostKeyLines),
  }
}

function remedyOf(error: unknown, about: Attempt, transport: Program): string | undefined {
  if (error instanceof FetchFailed && error.remedy !== undefined) return error.remedy
  return error instanceof SetupError ? undefined : findRemedy(about, transport)
}

const mostKeyLines = 2
const maxCharacters = 600

function explainProgram(error: unknown, { ended }: ServerLog): string {
  const facts = factsOf(error)
  if (ended !== undefined) return `${ended.replace(/\.$/, '')}, before it answered.`
  if (facts.codes.includes('REQUEST_TIMEOUT')) return 'Its program runs, and did not answer in time.'
  return toSentence(facts.inmost)
}

interface Explained {
  readonly message: string
  readonly remedy?: string | undefined
}

const noEndpoint =
  'Correct "url" in mcp.json: the endpoint of MCP often lies under "/mcp". The older transport of SSE alone is not spoken.'

function explainAnswer(error: unknown, url: string): Explained {
  // It says what to run.
  if (error instanceof LoginNeeded) return { message: toSentence(error.message) }
  const { codes, status, inmost } = factsOf(error)
  const where = `"${showLine(url)}"`
  const has = (...wanted: readonly string[]): boolean => wanted.some((code) => codes.includes(code))
  if (status === 401 || status === 403)
    return {
      message: `It does not take the credentials that it is given (${status}).`,
      remedy: 'Give them as "headers" in mcp.json, such as { "Authorization": "Bearer ${TOKEN}" }.',
    }
  if (status === 404 || status === 405 || status === 501)
    return { message: `There is no MCP at ${where}: it answers ${status}.`, remedy: noEndpoint }
  if (status !== undefined && status >= 300 && status < 400)
    return {
      message: `${where} leads elsewhere (${status}), where it is not followed.`,
      remedy: 'Put the address that it leads to into "url" in mcp.json, if that is the server that you mean.',
    }
  if (status !== undefined)
    return {
      message: `It answers ${status} at ${where}.`,
      remedy: 'Its own log says why. Where that is not the server that you mean, correct "url" in mcp.json.',
    }
  if (has('CLIENT_HTTP_UNEXPECTED_CONTENT'))
    return { message: `There is no MCP at ${where}, but something else, such as a page.`, remedy: noEndpoint }
  if (has('ECONNREFUSED'))
    return {
      message: `Nothing listens at ${where}.`,
      remedy: 'Start the server, or correct "url" in mcp.json.',
    }
  const untrusted = codes.find((code) => /CERT|ALTNAME|VERIFY_LEAF/.test(code))
  if (untrusted !== undefined)
    return {
      message: `The certificate of ${where} is not trusted (${untrusted}).`,
      remedy: 'Where it is one of your own authority, start Handrail with NODE_EXTRA_CA_CERTS.',
    }
  if (codes.some((code) => code.startsWith('ERR_SSL')))
    return {
      message: `What listens at ${where} does not speak TLS as it should.`,
      remedy: 'Correct "url" in mcp.json: a server without TLS has "http://".',
    }
  if (has('REQUEST_TIMEOUT', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT'))
    return {
      message: `No server answered at ${where} in time.`,
      remedy: 'See whether it runs, and whether this machine reaches it.',
    }
  return { message: toSentence(inmost) }
}

interface Facts {
  /** Of the error and all that caused it. */
  readonly codes: readonly string[]
  readonly status: number | undefined
  readonly inmost: string
}

const deepest = 8

function factsOf(error: unknown): Facts {
  const codes: string[] = []
  let status: number | undefined
  let inmost = String(error)
  let each = error
  for (let depth = 0; each instanceof Error && depth < deepest; depth++) {
    if ('code' in each && typeof each.code === 'string') codes.push(each.code)
    if (status === undefined && 'status' in each && typeof each.status === 'number') status = each.status
    inmost = each.message
    const [first]: unknown[] = each instanceof AggregateError ? each.errors : [each.cause]
    each = first
  }
  return { codes, status, inmost }
}

function toSentence(text: string): string {
  const line = showLine(text.trim().slice(0, maxCharacters))
  return line === '' ? 'It could not be connected to.' : `${line.replace(/[.!]$/, '')}.`
}
