import type { Verification } from '../../contract/evidence.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { McpFeed } from '../../compose/sources/mcp-tools.ts'
import type { Finding } from '../../sandboxes/doctor/finding.ts'
import type { AgentReplay } from '../../compose/replay/agent/replay-agent-run.ts'
import type { CallExplanation } from '../../compose/replay/explain-call.ts'

/** Reads all evidence of the home folder while calls go on. Undefined for a tenant stands for all. */
export interface Verifier {
  /** Holds the chain of a tenant, or all, against their hashes and signatures. */
  readonly verify: (tenant: string | undefined) => Promise<Verification>
  /** How far the verification that runs has come; undefined if none does. */
  readonly progress: () => { readonly tenant: string | undefined; readonly records: number } | undefined
  /** What a prune of all that is older would take. */
  readonly prunable: (tenant: string | undefined, before: number) => Promise<readonly Prunable[]>
}

/** How many inputs and results of a tenant would go. */
export interface Prunable {
  readonly tenant: string
  readonly bodies: number
}

/** What the console shows, and acts on. */
export interface ConsoleParts {
  readonly runtime: Runtime
  /** The MCP servers whose tools the runtime has. */
  readonly servers: Pick<McpFeed, 'describe' | 'serversOf'>
  /** Explains a recorded call, and decides it once more by the policy of now. */
  readonly explain: (call: string, tenant: string) => Promise<CallExplanation | undefined>
  readonly verifier: Verifier
  /** Runs a run once more on what was recorded, as `handrail evidence replay` does. */
  readonly replay: (run: string, tenant: string) => Promise<AgentReplay>
  /** The lines of an export, as `handrail evidence export` writes them. */
  readonly exportLines: (about: { readonly tenant?: string; readonly session?: string }) => Iterable<string>
  /** What holds of the home folder, as `handrail doctor` says it. */
  readonly examine: () => Promise<readonly Finding[]>
  /** Of Handrail. */
  readonly version: string
}
