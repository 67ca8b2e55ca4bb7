import type * as SdkModule from '@modelcontextprotocol/client'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Redactor } from '../../../kit/secrets/redact.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { oneLine } from '../../../kit/text/one-line.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** Why a login did not come about, in a sentence that shows no credential and little of what others said. */
export function toLoginFault(
  error: unknown,
  { sdk, redactor }: { sdk: typeof SdkModule; redactor: Redactor },
): Error {
  const refusal = findRefusal(error)
  if (refusal !== undefined)
    return new Error(
      `${refusal.message} Where it is the authorization server of this server, the operator names it as "issuer" in mcp.json.`,
      { cause: refusal },
    )
  if (error instanceof sdk.IssuerMismatchError)
    return new Error(
      error.kind === 'metadata'
        ? 'What the authorization server says of itself names another one. It was not trusted.'
        : 'The answer does not come from the authorization server that was asked. It was not used.',
    )
  if (error instanceof sdk.AuthorizationServerMismatchError)
    return new Error(
      `The server is led by "${clean(error.currentIssuer)}" now, and its credentials belong to "${clean(error.recordedIssuer)}". They were not sent.`,
    )
  const said = clean(redactor.text(messageOf(error)))
  if (error instanceof sdk.OAuthError)
    return new Error(`The authorization server refused (${clean(error.code)}): ${said}`)
  if (error instanceof sdk.RegistrationRejectedError)
    return new Error(
      `The authorization server does not register clients of itself (${error.status}). Register one there and name it in "oauth" of mcp.json.`,
    )
  const flaw = findFlaw(error)
  return new Error(flaw === undefined ? said : `What was said for the login cannot be used: ${clean(flaw)}.`)
}

/** The guard of the network says no in its own words. */
function findRefusal(error: unknown): ToolFailure | undefined {
  if (error instanceof ToolFailure) return error
  return error instanceof Error && error.cause !== undefined ? findRefusal(error.cause) : undefined
}

/** What a schema of the SDK does not take, without what stood there. */
function findFlaw(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('issues' in error) || !Array.isArray(error.issues)) return undefined
  const [first]: unknown[] = error.issues
  const { path, message } = isPlainObject(first) ? first : {}
  const at = Array.isArray(path) ? path.join('.') : ''
  return `"${at}": ${typeof message === 'string' ? message : 'it is wrong'}`
}

function clean(text: string): string {
  return oneLine(text, 300)
}
