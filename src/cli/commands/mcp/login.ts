import { homedir } from 'node:os'
import { loadUpstreams } from '../../../config/servers/load-upstreams.ts'
import { SetupError } from '../../../contract/base/errors.ts'
import { mcpTools, type McpTools } from '../../../compose/sources/mcp-tools.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { promptAuthorization } from '../../terminal/prompt-authorization.ts'
import { listenForReturn } from '../../terminal/listen-for-return.ts'
import { readDuration } from '../../arguments/read-duration.ts'
import { showLine, writeJson, writeText } from '../../base/show-safely.ts'
import { findPlaces, wireRuntime } from '../../setup/wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

const defaultWaitMs = 300_000

/** Has the person at the terminal log in at an MCP server, for a tenant; exit code 2 where that does not come about. */
export const loginVerb: ToolsVerb = {
  async run(given, server = '') {
    const withinMs = readDuration(given, 'within') ?? defaultWaitMs
    const place = await listenForReturn(redirectPortOf(given, server))
    const say = (text: string): void => writeText(process.stderr, text)
    const person = promptAuthorization(place, { say, input: process.stdin, withinMs })
    try {
      return await withServers(given, async (servers, tenant) => {
        const { issuer, scopes } = await servers.login(server, { tenant, ...person })
        const told = { server, tenant, issuer: issuer ?? null, scopes }
        if (given.options['json'] === true) writeJson(told)
        else writeText(process.stdout, `${describe(told)}\n`)
        return exitCodes.ok
      })
    } finally {
      place.close()
      process.stdin.destroy()
    }
  },
}

/** Forgets the login of a tenant at an MCP server. */
export const logoutVerb: ToolsVerb = {
  run: (given, server = '') =>
    withServers(given, async (servers, tenant) => {
      const had = await servers.logout(server, { tenant })
      if (given.options['json'] === true) writeJson({ server, tenant, had })
      else
        writeText(
          process.stdout,
          had
            ? `"${showLine(server)}": the login of the tenant "${tenant}" is forgotten.\n`
            : `"${showLine(server)}": the tenant "${tenant}" was not logged in.\n`,
        )
      return exitCodes.ok
    }),
}

async function withServers(
  given: CommandLine,
  work: (servers: McpTools, tenant: string) => Promise<number>,
): Promise<number> {
  const tenant = readText(given, 'tenant') ?? 'local'
  const places = findPlaces(given)
  const servers = mcpTools({ path: places.mcp, meet: false })
  const runtime = await wireRuntime(places, undefined, { upstreams: servers })
  try {
    // A tenant that the policy does not name is a fault of the command line.
    await runtime.session({ tenant }).close()
    return await work(servers, tenant)
  } finally {
    await runtime.close()
  }
}

/** The port that the operator names for it. A server that is not there is said before anything listens. */
function redirectPortOf(given: CommandLine, name: string): number | undefined {
  const { mcp } = findPlaces(given)
  const { servers, faulty } = loadUpstreams(mcp, { checker: createSchemaChecker(), home: homedir() })
  const transport = servers.find((server) => server.name === name)?.transport
  if (transport !== undefined) return transport.kind === 'http' ? transport.login?.redirectPort : undefined
  const { issues = [] } = faulty.find(({ server }) => server === name || server === '') ?? {}
  throw new SetupError(
    'login_failed',
    `There is no MCP server "${name}" in "${mcp}" that can be used.${describeNames(servers.map((server) => server.name))}`,
    issues,
  )
}

function describeNames(names: readonly string[]): string {
  return names.length === 0 ? '' : ` There are: ${names.join(', ')}.`
}

function describe(login: {
  server: string
  tenant: string
  issuer: string | null
  scopes: readonly string[]
}): string {
  const who = `"${showLine(login.server)}"`
  if (login.issuer === null) return `${who} needs no login: it shows its tools to every client.`
  const scopes = login.scopes.length === 0 ? '' : `, with ${showLine(login.scopes.join(' '))}`
  return `${who}: the tenant "${login.tenant}" is logged in by ${showLine(login.issuer)}${scopes}. Running servers use it from now on.`
}
