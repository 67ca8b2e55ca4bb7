import type { IncomingMessage } from 'node:http'
import { SetupError } from '../../../contract/base/errors.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { findUnknownFields } from '../../../kit/json/find-unknown-fields.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { isIssue, toJson } from '../../../kit/json/to-json.ts'
import type { Refusal } from '../web/send-json.ts'
import type { Caller } from './caller.ts'
import type { McpCaller, WhoCalls } from './who-calls.ts'

/** Reports the caller of a request as the program that serves knows it, or why the request is refused. */
export type Identify = (request: IncomingMessage) => Promise<Caller | Refusal>

interface About {
  /** Why no session can be opened so; undefined if one can. */
  readonly findFault: (session: Caller['session']) => string | undefined
}

/**
 * Asks the program who sends each request. What it says of two requests has to be the same for them to count as of one caller. A program
 * that knows one caller for all requests is taken at its word for its own machine only.
 */
export function createOwnCallers(who: WhoCalls, { findFault }: About): Identify {
  if (typeof who !== 'function') {
    const anybody = toCaller(who)
    return async ({ socket }) => (isOwnMachine(socket.remoteAddress) ? anybody : stranger)
  }
  return async (request) => {
    const said = await who(request)
    if (said === undefined) return unknownCaller
    const caller = toCaller(said)
    if (caller.session.actor === undefined)
      throw new SetupError(
        'invalid_options',
        'The function "session" has to return the "actor" of a request.',
      )
    if (caller.expiresAt !== undefined && caller.expiresAt <= Date.now()) return unknownCaller
    const fault = findFault(caller.session)
    return fault === undefined ? caller : { status: 403, message: `This caller has no tools here. ${fault}` }
  }
}

const fields = [
  'tenant',
  'actor',
  'role',
  'mode',
  'agent',
  'model',
  'allowedTools',
  'disallowedTools',
  'standingConsents',
  'expiresAt',
]

function toCaller(said: McpCaller): Caller {
  const issues = isPlainObject(said)
    ? findUnknownFields(said, fields)
    : [{ pointer: '', code: 'wrong_type', message: 'It has to be an object with the "actor".' }]
  const { expiresAt, ...session }: McpCaller = isPlainObject(said) ? said : {}
  const copied = toJson(session)
  if (isIssue(copied)) issues.push(copied)
  if (expiresAt !== undefined && !isTime(expiresAt))
    issues.push({ pointer: '/expiresAt', code: 'wrong_type', message: 'It has to be a Date.' })
  if (issues.length > 0 || isIssue(copied))
    throw new SetupError('invalid_options', 'This is not who calls:', issues)
  return { key: `own:${canonicalJson(copied.json)}`, session, expiresAt: expiresAt?.getTime() }
}

function isTime(value: unknown): boolean {
  return value instanceof Date && !Number.isNaN(value.getTime())
}

/** A proxy on the same machine says for whom it asks only to a program that looks. */
function isOwnMachine(address = ''): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(address)
}

const unknownCaller: Refusal = {
  status: 401,
  message: 'This server does not know who sends the request. Send the credentials that it asks for.',
  headers: { 'www-authenticate': 'Bearer realm="handrail"' },
}

const stranger: Refusal = {
  status: 403,
  message:
    'This server takes requests from its own machine only. Its program has to say who each caller is: session: (request) => …',
}
