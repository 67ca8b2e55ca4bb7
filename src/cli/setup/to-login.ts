import { SetupError } from '../../contract/base/errors.ts'
import type { GatewayConfiguration } from '../../contract/mcp/serving.ts'
import { openLogin, type Login } from '../../console/entry/open-login.ts'
import { readEnvironment } from './wire.ts'

/** The provider that `gateway.json` names. Throws a `SetupError` if its secret is not there. */
export function toLogin({ console: serving }: GatewayConfiguration): Login | undefined {
  if (serving === undefined) return undefined
  const { clientSecret } = serving.login
  const secret = clientSecret === undefined ? undefined : readEnvironment(clientSecret)
  if (clientSecret !== undefined && (secret === undefined || secret === ''))
    throw new SetupError('invalid_configuration', 'The file cannot be used:', [
      {
        pointer: 'gateway.json#/console/login/clientSecret',
        code: 'missing',
        message: `The environment variable "${clientSecret}" has no secret of the client. Set it.`,
      },
    ])
  return openLogin(serving, secret)
}
