import type { Verification } from '../../contract/evidence.ts'
import type { GatewayConfiguration } from '../../contract/mcp/serving.ts'
import type { Policy } from '../../contract/policy.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { Redactor } from '../../kit/secrets/redact.ts'
import type { Visits } from '../entry/visits.ts'
import type { McpFeed } from '../../compose/sources/mcp-tools.ts'
import type { CallExplanation } from '../../compose/replay/explain-call.ts'

/** What the console shows, and acts on. */
export interface ConsoleParts {
  readonly runtime: Runtime
  /** The MCP servers whose tools the runtime has. */
  readonly servers: Pick<McpFeed, 'describe' | 'serversOf'>
  /** Explains a recorded call, and decides it once more by the policy of now. */
  readonly explain: (call: string, tenant: string) => Promise<CallExplanation | undefined>
  /** Holds the chain of a tenant, or all, against their hashes and signatures, while calls go on. */
  readonly verify: (tenant: string | undefined) => Promise<Verification>
  /** Who may connect and get in, as it is in force now. */
  readonly gateway: () => GatewayConfiguration
  /** The policy, as its file says it now; with nothing in it while the file cannot be used, and the one of before holds. */
  readonly policy: () => Policy
  /** The visits that go on, and what ends one. */
  readonly visits: Pick<Visits, 'list' | 'end'>
  /** Takes secrets out of what is kept with them, such as conversations. */
  readonly redactor: Pick<Redactor, 'json'>
  /** Of Handrail. */
  readonly version: string
}
