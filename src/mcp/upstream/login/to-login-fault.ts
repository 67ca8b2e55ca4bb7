import type * as SdkModule from '@modelcontextprotocol/client'
import { ToolFailure } from '../../../contract/errors.ts'
import type { Redactor } from '../../../kit/redact.ts'
import { oneLine } from '../one-line.ts'

/** Why a login did not come about, in a sentence that shows no credential and little of what others said. */
export function toLoginFault(
  error: unknown,
  { sdk, redactor }: { sdk: typeof SdkModule; redactor: Redactor },
): Error {
  const refusal = findRefusal(error)
  if (refusal !== undefined) return refusal
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
  const said = clean(redactor.text(error instanceof Error ? error.message : String(error)))
  if (error instanceof sdk.OAuthError)
    return new Error(`The authorization server refused (${clean(error.code)}): ${said}`)
  if (error instanceof sdk.RegistrationRejectedError)
    return new Error(
      `The authorization server does not register clients of itself (${error.status}). Register one there and name it in "oauth" of mcp.json.`,
    )
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
  return new Error(cause === '' ? said : `${said}: ${clean(redactor.text(cause))}`)
}

/** The guard of the network says no in its own words. */
function findRefusal(error: unknown): ToolFailure | undefined {
  if (error instanceof ToolFailure) return error
  return error instanceof Error && error.cause !== undefined ? findRefusal(error.cause) : undefined
}

function clean(text: string): string {
  return oneLine(text, 300)
}
