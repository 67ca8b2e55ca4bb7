import type { Verification } from '../../contract/evidence.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { OpenTrial } from '../../compose/servers/try-server.ts'
import type { McpFeed } from '../../compose/sources/mcp-tools.ts'
import type { CallExplanation } from '../../compose/replay/explain-call.ts'

/** What the console shows, and acts on. */
export interface ConsoleParts {
  readonly runtime: Runtime
  /** The MCP servers whose tools the runtime has. */
  readonly servers: Pick<McpFeed, 'describe' | 'serversOf'>
  /** How servers are added to the file of them. */
  readonly serverSetup: {
    /** The file. */
    readonly path: string
    readonly openTrial: OpenTrial
    /** The registry that is searched, if one is set. */
    readonly registry: () => string | undefined
  }
  /** Explains a recorded call, and decides it once more by the policy of now. */
  readonly explain: (call: string, tenant: string) => Promise<CallExplanation | undefined>
  /** Holds the chain of a tenant, or all, against their hashes and signatures, while calls go on. */
  readonly verify: (tenant: string | undefined) => Promise<Verification>
  /** Of Handrail. */
  readonly version: string
}
