import { openFile } from '../../config/files/settings-file.ts'
import { readServers } from '../../compose/servers/mcp-file.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { answerJson } from '../base/answers.ts'
import { endpoint, type Endpoint } from '../base/endpoint.ts'
import { ofTenant } from '../base/read-query.ts'
import { refusingSetup } from '../base/refusing-setup.ts'
import { serverLoginCookie } from '../entry/cookies.ts'

const logIn = endpoint({
  method: 'POST',
  path: '/api/servers/{server}/login',
  summary:
    'Begins the login of a tenant at an MCP server that wants one, and says where the browser of the person has to go. It comes back to the console by itself, and the tokens are kept then.',
  role: 'operator',
  reach: ofTenant,
  query: { tenant: 'Whose login it is. Default: `local`, or the tenant of the visitor.' },
  body: { type: 'object', properties: {}, additionalProperties: false },
  answer: {
    type: 'object',
    properties: {
      url: { type: 'string', description: 'Where to go. Absent if nobody has to go anywhere.' },
      issuer: {
        type: 'string',
        description: 'Who gave tokens. Absent if none were needed, or not yet given.',
      },
    },
  },
  run: ({ visitor, path, origin, tenants, parts }) =>
    refusingSetup(async () => {
      const server = path['server'] ?? ''
      const { store } = parts.runtime
      if (store.readOnly !== undefined || store.trouble !== undefined)
        throw new SetupError('store_unusable', 'The store takes no records now, so no login was begun.')
      const port = portOf(parts.serverSetup.path, server)
      if (port !== undefined)
        throw new SetupError(
          'login_failed',
          `The client of "${server}" comes back to port ${port} ("redirect_port" in mcp.json). At a terminal of this machine: handrail mcp login ${server}`,
        )
      const [tenant = 'local'] = tenants
      const { actor, stands } = visitor
      const begun = await parts.serverLogins.begin({ server, tenant, actor, stands, origin })
      if (begun.url === undefined) {
        const { issuer } = begun.facts
        return issuer === undefined ? {} : { issuer }
      }
      return answerJson(
        { url: begun.url },
        { headers: { 'set-cookie': serverLoginCookie.set({ url: origin }, begun.secret) } },
      )
    }),
})

/** The port of its own that a server of the file is logged in over, as its client is known by it. */
function portOf(path: string, server: string): number | undefined {
  const entry = readServers(openFile(path))[server]
  const oauth = isPlainObject(entry) ? entry['oauth'] : undefined
  const port = isPlainObject(oauth) ? oauth['redirect_port'] : undefined
  return typeof port === 'number' ? port : undefined
}

export const serverLoginEndpoints: readonly Endpoint[] = [logIn]
