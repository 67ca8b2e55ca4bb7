import { SetupError } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import { createSdkDoor } from '../base/create-sdk-door.ts'
import { checkDoorOptions, type SdkDoorOptions } from '../base/door-options.ts'
import { createGraphApprovals, type Interrupt } from './graph-approvals.ts'
import { createToolNode, type LangChainNode } from './create-tool-node.ts'
import { toLangChainTool, type MakeLangChainTool } from './to-lang-chain-tool.ts'

/** What the door takes of the packages of LangChain, so that it loads none of them by itself. */
export interface LangChainOptions<Made> extends SdkDoorOptions {
  /** `tool` of `@langchain/core/tools` (or of `langchain`). */
  tool: MakeLangChainTool<Made>
  /** `interrupt` of `@langchain/langgraph`. Without it, the result of a call that asks says that it waits. */
  interrupt?: Interrupt
}

/** The tools of a session for LangChain and LangGraph. */
export interface LangChainDoor<Made> {
  /** For `bindTools`, `createAgent` and `ToolNode`. */
  readonly tools: Made[]
  /**
   * A node of a graph with `messages` that runs the calls of the last message as one step: writes alone, and one interrupt for all that wait,
   * before anything runs. `ToolNode` starts every call anew when its graph goes on.
   */
  readonly node: LangChainNode
}

/**
 * The tools of a session for LangChain and LangGraph. In a graph with a checkpointer, a call that asks interrupts it with `{ approvals }`: each
 * with its id, title, tool, preview and digest. Go on with `new Command({ resume: { [id]: { decision: 'allow_once', by: 'bob' } } })`, or with
 * any value once it was decided elsewhere. Throws a SetupError without `tool`.
 *
 * @example
 * const door = langChain(session, { tool, interrupt, approvals: runtime.approvals })
 * const agent = createAgent({ model, tools: door.tools, checkpointer })
 */
export function langChain<Made>(session: Session, options: LangChainOptions<Made>): LangChainDoor<Made> {
  checkDoorOptions('langChain', options, ['tool', 'interrupt'])
  if (typeof options.tool !== 'function')
    throw new SetupError(
      'invalid_options',
      'langChain needs { tool }, the function of "@langchain/core/tools".',
    )
  const door = createSdkDoor(session, options)
  const approvals = createGraphApprovals(options, { session, door })
  const tools = door.tools.list.map((tool) => toLangChainTool(tool, { make: options.tool, door, approvals }))
  return { tools, node: createToolNode(tools, { session, door, approvals }) }
}
