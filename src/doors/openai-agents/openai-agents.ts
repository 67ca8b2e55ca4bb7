import type { PendingApproval } from '../../contract/pending-approval.ts'
import type { Session } from '../../contract/runtime.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { createSdkDoor, type SdkCall } from '../base/create-sdk-door.ts'
import { checkDoorOptions, needApprovals, type SdkDoorOptions } from '../base/door-options.ts'
import type { WireTool } from '../base/present-tools.ts'
import { recordAnswer, type RecordedSdkAnswer } from '../base/record-answers.ts'
import { toAgentTool, type OpenAiAgentTool } from './to-agent-tool.ts'

/** What the door reads of an interruption of a run (`RunToolApprovalItem`). */
export interface AgentInterruption {
  readonly rawItem: {
    readonly type: string
    readonly callId?: string
    readonly name?: string
    readonly arguments?: string
  }
}

/** What the door does with the state of a run (`RunState`). */
export interface AgentRunState<Item extends AgentInterruption> {
  getInterruptions(): Item[]
  approve(item: Item): void
  reject(item: Item): void
}

/** What a person said about one interruption. */
export interface AgentAnswer<Item extends AgentInterruption> {
  readonly item: Item
  readonly approved: boolean
  /** Who said it. The program vouches for it. */
  readonly by: string
  readonly reason?: string
}

/** The tools of a session for `@openai/agents`. */
export interface OpenAiAgentsDoor {
  readonly tools: readonly OpenAiAgentTool[]
  /** The stored question behind an interruption, with its preview; undefined if it was decided by now, or is of another tool. */
  question(item: AgentInterruption): Promise<PendingApproval | undefined>
  /**
   * Records what a person said, and takes it over into the state of the run. An answer that does not count leaves the run interrupted. Throws a
   * SetupError without `approvals` in the options of the door.
   */
  answered<Item extends AgentInterruption>(
    state: AgentRunState<Item>,
    answer: AgentAnswer<Item>,
  ): Promise<RecordedSdkAnswer>
  /**
   * Lets the run go on with every interruption that was decided elsewhere or needs no answer, such as a call with broken JSON, for which the SDK
   * interrupts by itself. Returns how many wait on.
   */
  decided<Item extends AgentInterruption>(state: AgentRunState<Item>): Promise<number>
}

interface Found {
  readonly tool: WireTool
  readonly call: SdkCall
}

/**
 * The tools of a session for agents of `@openai/agents`. A call that asks is an interruption of the run, and its question stands in the store;
 * approved in the state alone, it waits on.
 *
 * @example
 * const door = openAiAgents(session, { approvals: runtime.approvals })
 * const result = await run(new Agent({ name: 'Shop', tools: [...door.tools] }), 'Pay it back.')
 * for (const item of result.interruptions) await door.answered(result.state, { item, approved: true, by: 'bob' })
 */
export function openAiAgents(session: Session, options: SdkDoorOptions = {}): OpenAiAgentsDoor {
  checkDoorOptions('openAiAgents', options)
  const door = createSdkDoor(session, options)
  const find = ({
    rawItem: { type, callId, name, arguments: input },
  }: AgentInterruption): Found | undefined => {
    const tool = type === 'function_call' && name !== undefined ? door.tools.find(name) : undefined
    if (tool === undefined || callId === undefined) return undefined
    return { tool, call: { id: callId, input: toInput(input) } }
  }
  return {
    tools: door.tools.list.map((tool) => toAgentTool(tool, door)),
    async question(item) {
      const found = find(item)
      return found && (await door.ask(found.tool, found.call))?.approval
    },
    async answered(state, { item, approved, by, reason }) {
      const approvals = needApprovals('openAiAgents', options)
      const found = find(item)
      if (found === undefined)
        return {
          toolCallId: item.rawItem.callId ?? '',
          state: 'ignored',
          why: 'It is not a call of a tool of this session.',
        }
      const recorded = await recordAnswer({ ...found, approved, reason }, { session, door, approvals, by })
      if (recorded.state === 'denied') state.reject(item)
      if (recorded.state === 'allowed') state.approve(item)
      return recorded
    },
    async decided(state) {
      let waiting = 0
      for (const item of state.getInterruptions()) {
        const found = find(item)
        if (found === undefined) continue
        // What lets it run now has run it, and the run takes that over; a no is told to the model in the same way.
        if ((await door.ask(found.tool, found.call)) === undefined) state.approve(item)
        else waiting++
      }
      return waiting
    },
  }
}

/** As the SDK hands it to `needsApproval`, so that one call has one name. */
function toInput(text: string | undefined): unknown {
  try {
    const input = parseJson(text ?? '')
    return isPlainObject(input) ? input : text
  } catch {
    return text
  }
}
