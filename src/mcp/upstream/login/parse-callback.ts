import { dropInvisible } from '../../../kit/text/drop-invisible.ts'
import type { LoginTry } from './login-try.ts'
import type { Exchange } from './login-context.ts'

/** What came back with a person. */
export interface Callback {
  readonly authorizationCode: string
  readonly iss?: string
}

/**
 * Reads the URL that a browser was led back to. Throws where it belongs to another try, comes from another authorization server, or says no;
 * who it comes from is judged before anything of it is read.
 */
export function parseCallback(
  back: string,
  { sdk, made, redirectUrl }: { sdk: Exchange['sdk']; made: LoginTry; redirectUrl: string },
): Callback {
  const url = URL.canParse(back) ? new URL(back) : undefined
  const wanted = new URL(redirectUrl)
  if (url === undefined || url.origin !== wanted.origin || url.pathname !== wanted.pathname)
    throw new Error(`That is not the way back: a URL that begins with "${redirectUrl}" is.`)
  if (url.searchParams.get('state') !== made.stateText)
    throw new Error('The way back belongs to another login. Log in once more, and use the URL of that time.')
  const iss = url.searchParams.get('iss') ?? undefined
  const code = url.searchParams.get('code')
  if (code !== null && code !== '') return { authorizationCode: code, ...(iss !== undefined && { iss }) }
  const metadata = made.discovered?.authorizationServerMetadata
  sdk.validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.['authorization_response_iss_parameter_supported'] === true,
  })
  const error = dropInvisible(url.searchParams.get('error') ?? 'no code').slice(0, 64)
  throw new Error(`The authorization server did not allow it (${error}).`)
}
