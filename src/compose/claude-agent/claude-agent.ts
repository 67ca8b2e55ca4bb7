import { SetupError } from '../../contract/base/errors.ts'
import type { Runtime, Session } from '../../contract/runtime.ts'
import type { ToolServer } from '../../mcp/server/program/create-tool-server.ts'
import { checkClaudeOptions } from './check-options.ts'
import { createCanUseTool, type ClaudeAsk, type ClaudeCanUseTool } from './create-can-use-tool.ts'
import { createHook, type ClaudeHook } from './create-hook.ts'
import { createVerdicts } from './create-verdicts.ts'
import { openOwnTools, serverName } from './open-own-tools.ts'

/** What the door for the Claude Agent SDK stands on. Unknown fields are refused. */
export interface ClaudeAgentOptions {
  /** The runtime of the session. */
  runtime: Runtime
  /** Names or patterns of the tools of the session that the agent is handed. Default: all. They change nothing in what its own tools may do. */
  tools?: readonly string[]
  /**
   * The program's own `canUseTool`: asked about what the policy leaves to the agent, such as whether a plan is a good one, and about what the agent
   * asks by its own settings. Default: what the policy lets through runs, and the rest is denied.
   */
  canUseTool?: ClaudeAsk
}

/** Options of `query` of the Claude Agent SDK. */
export interface ClaudeAgentDoor {
  /** The project of the runtime. */
  readonly cwd: string
  /** The tools of the session, in this process. */
  readonly mcpServers: { readonly handrail: ClaudeToolServer }
  /** Ends a call that waits for a person, and the run with it. */
  readonly canUseTool: ClaudeCanUseTool
  /** Decide about every call before it runs, and record its end. */
  readonly hooks: {
    readonly [
      event in 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure' | 'Stop' | 'SessionEnd'
    ]: ClaudeHookMatcher[]
  }
}

/** A server in the process of the SDK (`McpSdkServerConfigWithInstance`). */
export interface ClaudeToolServer {
  type: 'sdk'
  name: string
  /** What the SDK connects to. Only the SDK uses it, whose type of it cannot be named without loading it. */
  instance: never
}

/** A hook of the SDK (`HookCallbackMatcher`). */
export interface ClaudeHookMatcher {
  hooks: ClaudeHook[]
  /** Seconds. */
  timeout: number
  onFailure?: 'block'
}

/** What a call of the session takes may be long: an answered one runs before its hook has answered. */
const timeout = 3_600

/**
 * The Claude Agent SDK under the policy: spread it into the options of `query`. The agent gets the tools of the session, and the session decides
 * about the agent's own tools too, as `handrail hook claude-code` does, with the same evidence. The question of a call that asks is kept in the store, and
 * the run is interrupted: once it is answered, resume the run, and the same call gets through once. Throws a SetupError for options that
 * are not right.
 *
 * @example
 * const door = claudeAgent(session, { runtime })
 * for await (const message of query({ prompt, options: { ...door } })) console.log(message)
 */
export function claudeAgent(session: Session, options: ClaudeAgentOptions): ClaudeAgentDoor {
  checkClaudeOptions(options)
  const { runtime } = options
  checkSession(session, runtime)
  const verdicts = createVerdicts()
  const own = openOwnTools(session, options)
  const hook = createHook({ session, runtime, own, verdicts })
  const matcher = (more: { onFailure?: 'block' } = {}): ClaudeHookMatcher[] => [
    { hooks: [hook], timeout, ...more },
  ]
  return {
    cwd: runtime.project,
    mcpServers: { handrail: { type: 'sdk', name: serverName, instance: asInstance(own.server) } },
    canUseTool: createCanUseTool(verdicts, options.canUseTool),
    hooks: {
      PreToolUse: matcher({ onFailure: 'block' }),
      PostToolUse: matcher(),
      PostToolUseFailure: matcher(),
      Stop: matcher(),
      SessionEnd: matcher(),
    },
  }
}

/** The SDK calls `connect` of it, and nothing else. */
function asInstance(server: ToolServer): never {
  return server as never
}

function checkSession(session: Session, runtime: Runtime): void {
  try {
    void runtime.session({ parent: session }).close()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    throw new SetupError(
      'invalid_options',
      'claudeAgent needs an open session, and the runtime that opened it.',
      error.issues,
    )
  }
}
