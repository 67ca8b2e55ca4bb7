import { chmodSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readUpstreams, upstreamSecrets } from '../../config/servers/load-upstreams.ts'
import { makeTemporaryFolder } from '../../sandboxes/leftovers/temporary-folder.ts'
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
    // Another server may have the name that was pasted: what that one keeps is not for this program.
    const homes = makeTemporaryFolder()
    // It may run as a user who has to come through.
    chmodSync(homes, 0o711)
    const feed = mcpTools({
      servers,
      meet: false,
      data: { dir: join(places.home, 'servers'), homes },
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
    }).catch((error: unknown) => {
      rmSync(homes, { recursive: true, force: true })
      throw error
    })
    return {
      feed,
      async close() {
        await runtime.close()
        rmSync(homes, { recursive: true, force: true })
      },
    }
  }
}
