import type { NativeAgent } from '../../../compose/agents/native-agent.ts'
import type { JsonObject } from '../../../contract/base/json.ts'

/** An agent with hooks that the command answers. */
export interface HookAgent extends NativeAgent {
  /** Where the messages are documented. */
  readonly source: string
  /** An environment variable that the agent sets to the folder of its project. */
  readonly projectVariable?: string
  /** Whether the hook is started in the folder of the project. What the message calls `cwd` is where the call runs, which is up to the model. */
  readonly startsInProject?: boolean
  readonly settings: HookSettings
}

/** Where and how the agent is told of the hook. */
export interface HookSettings {
  /** The file of a person, from their home folder on; `variable` names the folder in place of its first part. */
  readonly user: { readonly path: string; readonly variable?: string }
  /** The file of a project, from the project on. */
  readonly project: string
  /** What the file needs beside the hooks. */
  readonly base?: JsonObject
  /** What stands under `hooks` for each event. */
  entries(command: string): { readonly [event: string]: JsonObject }
  /** What the person still has to do. */
  readonly next?: string
}
