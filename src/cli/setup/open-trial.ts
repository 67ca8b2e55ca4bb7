import { existsSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readUpstreams, upstreamSecrets } from '../../config/servers/load-upstreams.ts'
import { createRuntime } from '../../compose/create-runtime.ts'
import type { OpenTrial } from '../../compose/servers/try-server.ts'
import { mcpTools } from '../../compose/sources/mcp-tools.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { readEnvironment, wireOptions, type Places } from './wire.ts'

/** Starts servers as they would be in service with this configuration. Nothing is kept of it but the packages that were fetched. */
export function createTrials(places: Places): OpenTrial {
  return async ({ servers, secrets }) => {
    const options = wireOptions(places)
    const read = readUpstreams(servers, { checker: createSchemaChecker(), home: homedir() })
    const named = upstreamSecrets(read).flatMap((name) => {
      const value = readEnvironment(name)
      return value === undefined ? [] : [[name, value] as const]
    })
    const data = join(places.home, 'servers')
    const feed = mcpTools({
      servers,
      meet: false,
      data: { dir: data },
      logins: { dir: join(places.home, 'mcp-tokens') },
    })
    const runtime = await createRuntime({
      ...options,
      // A policy that names other tools is none of its faults.
      onError: () => {},
      tools: [],
      feeds: [feed],
      // What was pasted is hidden in whatever the server says.
      secrets: { ...options.secrets, ...Object.fromEntries(named), ...secrets },
    })
    const before = new Set(
      feed
        .describe()
        .servers.flatMap((each) => (each.data !== undefined && existsSync(each.data) ? [each.data] : [])),
    )
    return {
      feed,
      async close() {
        const homes = feed.describe().servers.flatMap((each) => each.data ?? [])
        await runtime.close()
        for (const home of homes) if (!before.has(home)) rmSync(home, { recursive: true, force: true })
      },
    }
  }
}
