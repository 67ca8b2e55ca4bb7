import type { Verification } from '../../contract/evidence.ts'
import type { GatewayConfiguration } from '../../contract/mcp/serving.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { Redactor } from '../../kit/secrets/redact.ts'
import type { Policy } from '../../contract/policy.ts'
import type { RuntimeOptions } from '../../compose/options/runtime-options.ts'
import type { PolicyCase } from '../../config/policy-cases.ts'
import type { PolicyBook } from '../../config/policy-file/policy-book.ts'
import type { ServerLogins } from './server-login.ts'
import type { CurrentVisits } from './visit.ts'
import type { OpenTrial } from '../../compose/servers/try-server.ts'
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
  readonly servers: Pick<McpFeed, 'describe' | 'serversOf' | 'isBehind'>
  /** Logins at them that people make in their browsers. */
  readonly serverLogins: ServerLogins
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
  readonly verifier: Verifier
  /** Runs a run once more on what was recorded, as `handrail evidence replay` does. */
  readonly replay: (run: string, tenant: string) => Promise<AgentReplay>
  /** The lines of an export, as `handrail evidence export` writes them. */
  readonly exportLines: (about: { readonly tenant?: string; readonly session?: string }) => Iterable<string>
  /** What holds of the home folder, as `handrail doctor` says it. */
  readonly examine: () => Promise<readonly Finding[]>
  readonly policy: PolicyDesk
  /** Who may connect and get in, as it is in force now. */
  readonly gateway: () => GatewayConfiguration
  /** The visits that go on, and what ends one. */
  readonly visits: CurrentVisits
  /** Takes secrets out of what is kept with them, such as conversations. */
  readonly redactor: Pick<Redactor, 'json'>
  /** Of Handrail. */
  readonly version: string
}

/** The policy of the runtime: where it comes from, and what it is tried with. */
export interface PolicyDesk {
  /** The file that it comes from. Undefined if it is given by a program. */
  readonly book: PolicyBook | undefined
  /** As its file says it now; with nothing in it while the file cannot be used, and the one of before holds. */
  readonly inForce: () => Policy
  /** What decides about calls that no caller makes, with this policy, or with the runtime's own. */
  readonly wire: (policy?: Policy) => Promise<RuntimeOptions>
  /** Cases that a policy is held against before it is saved. Throws a SetupError if they cannot be used. */
  readonly cases: () => readonly PolicyCase[]
}
