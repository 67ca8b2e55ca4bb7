import { isAbsolute, join } from 'node:path'
import type { Issue } from '../../contract/base/json.ts'
import type { LoginSettings } from '../../contract/mcp/login.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { UpstreamServer, UpstreamTransport } from '../../contract/mcp/upstream.ts'
import { hostOf } from '../../kit/match/host-of.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { isTrustworthyUrl } from '../../kit/match/loopback.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { secretNames } from '../../kit/secrets/secret-names.ts'
import { checkServer, isList, type ServerFile } from './check-server.ts'
import { hasAuthorization } from './oauth-schema.ts'
import { readJsonFile } from '../base/read-json-file.ts'

/** The MCP servers of a file: those that can be used, and all that is wrong with the others. */
export interface LoadedUpstreams {
  readonly servers: readonly UpstreamServer[]
  /** By the name of the server; `''` for those of the file itself. A server with issues is left out, the others are not. */
  readonly faulty: readonly { readonly server: string; readonly issues: readonly Issue[] }[]
  /** What is left out although nothing is wrong with it, for the person to read. */
  readonly notices: readonly string[]
}

const nothing: LoadedUpstreams = { servers: [], faulty: [], notices: [] }

/** Reads `<home>/mcp.json`. A missing file says nothing. Never throws: a faulty server must not keep the others from working. */
export function loadUpstreams(
  path: string,
  about: { checker: SchemaChecker; home: string },
): LoadedUpstreams {
  const read = readJsonFile(path)
  if (read === undefined) return nothing
  if ('issues' in read) return { ...nothing, faulty: [{ server: '', issues: inFile(path, read.issues) }] }
  const { value } = read
  const servers = isPlainObject(value) ? value['mcpServers'] : undefined
  if (isPlainObject(servers)) return readUpstreams(servers, about)
  const message =
    isPlainObject(value) && Object.hasOwn(value, 'servers')
      ? 'The servers stand under "servers". Put them under "mcpServers".'
      : 'There are no servers. Write {"mcpServers": {"<name>": {"command": "…"} or {"url": "…"}}}.'
  const issue = { pointer: '/mcpServers', code: 'missing', message }
  return { ...nothing, faulty: [{ server: '', issues: inFile(path, [issue]) }] }
}

function inFile(path: string, issues: readonly Issue[]): Issue[] {
  return issues.map((issue) => ({ ...issue, pointer: `${path}#${issue.pointer}` }))
}

/**
 * The same for a file that was read before. If servers of it are in force, a file that is gone is at fault: Handrail cannot know whether
 * they are to go, or only stand somewhere else now.
 */
export function reloadUpstreams(
  path: string,
  before: LoadedUpstreams,
  about: { checker: SchemaChecker; home: string },
): LoadedUpstreams {
  const loaded = loadUpstreams(path, about)
  if (loaded !== nothing || before === nothing) return loaded
  const message = `The file is gone, so its servers stay as they were. Put it back, with {"mcpServers": {}} where there are to be none, or start anew.`
  const issue = { pointer: '', code: 'missing', message }
  return { ...nothing, faulty: [{ server: '', issues: inFile(path, [issue]) }] }
}

/** The same for servers that a program hands over. */
export function readUpstreams(
  given: Readonly<Record<string, unknown>>,
  { checker, home }: { checker: SchemaChecker; home: string },
): LoadedUpstreams {
  const servers: UpstreamServer[] = []
  const faulty: { server: string; issues: readonly Issue[] }[] = []
  const notices: string[] = []
  for (const [name, value] of Object.entries(given)) {
    const { file, issues, notices: said } = checkServer(name, value, checker)
    const pointer = pointerTo('/mcpServers', name)
    notices.push(...said)
    if (file === undefined || issues.length > 0)
      faulty.push({
        server: name,
        issues: issues.map((issue) => ({ ...issue, pointer: pointer + issue.pointer })),
      })
    else if (file.enabled !== false && file.disabled !== true) servers.push(toServer(name, file, home))
  }
  return { servers, faulty, notices }
}

/** The names of the secrets that servers are handed. */
export function upstreamSecrets({ servers }: LoadedUpstreams): string[] {
  return servers.flatMap(({ transport, credentials }) => {
    const { clientSecret = '', privateKey = '' } = (transport.kind === 'http' && transport.login) || {}
    const values = transport.kind === 'http' ? transport.headers : transport.env
    const texts = [values, ...Object.values(credentials)].flatMap((each) => Object.values(each))
    return [...texts, clientSecret, privateKey].flatMap(secretNames)
  })
}

function toServer(name: string, file: ServerFile, home: string): UpstreamServer {
  const { allow = ['*'], deny = [], readonly = [] } = file.tools ?? {}
  const transport = toTransport(file, home)
  return {
    name,
    transport,
    hosts: toHosts(file.network, transport),
    defer: file.defer,
    timeoutMs: file.timeout_ms,
    connectMs: file.connect_timeout_ms,
    protocol: file.protocol,
    tools: { allow, deny, readonly },
    sampling: file.sampling ?? false,
    ...toTenants(file.tenants),
  }
}

function toTenants(tenants: ServerFile['tenants']): Pick<UpstreamServer, 'tenants' | 'credentials'> {
  if (isList(tenants)) return { tenants, credentials: {} }
  const own = Object.entries(tenants).map(([tenant, { env, headers }]) => [tenant, { ...env, ...headers }])
  return { tenants: Object.keys(tenants), credentials: Object.fromEntries(own) }
}

function toTransport(file: ServerFile, home: string): UpstreamTransport {
  const { url, headers = {} } = file
  if (url !== undefined) return { kind: 'http', url, headers, login: toLogin(url, file) }
  const { command = '', args = [], env = {}, cwd, read = [], write = [] } = file
  return {
    kind: 'stdio',
    command: expandHome(command, home),
    args,
    env,
    cwd: cwd === undefined || isAbsolute(cwd) ? cwd : expandHome(cwd, home),
    read,
    write,
    fetch: toFetch(file.fetch),
  }
}

function toFetch(fetch: ServerFile['fetch'] = true): readonly string[] | undefined {
  if (typeof fetch === 'object') return fetch
  return fetch ? [] : undefined
}

/** A client with a header that says who it is does not log in; nor is a token sent where others can read it. */
function toLogin(url: string, { headers = {}, oauth: given }: ServerFile): LoginSettings | undefined {
  if (hasAuthorization(headers) || !isTrustworthyUrl(url)) return undefined
  const oauth = given ?? {}
  return {
    isGiven: given !== undefined,
    grant: oauth.grant ?? 'authorization_code',
    clientId: oauth.client_id,
    clientSecret: oauth.client_secret,
    privateKey: oauth.private_key,
    signingAlgorithm: oauth.signing_algorithm ?? 'ES256',
    clientMetadataUrl: oauth.client_metadata_url,
    scopes: oauth.scopes,
    issuer: oauth.issuer,
    redirectPort: oauth.redirect_port,
  }
}

function expandHome(path: string, home: string): string {
  return path.startsWith('~/') ? join(home, path.slice(2)) : path
}

/** A server on the web reaches itself at least. */
function toHosts(network: ServerFile['network'], transport: UpstreamTransport): readonly string[] {
  if (network === true) return ['*']
  const own = transport.kind === 'http' ? [hostOf(new URL(transport.url))] : []
  return [...new Set([...own, ...(network === undefined || network === false ? [] : network)])]
}
