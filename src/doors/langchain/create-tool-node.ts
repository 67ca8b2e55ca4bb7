import type { Session } from '../../contract/runtime.ts'
import { isObject } from '../../kit/json/is-object.ts'
import type { SdkDoor } from '../base/create-sdk-door.ts'
import { describeEnd } from '../base/describe-end.ts'
import { listObjects } from '../base/list-objects.ts'
import type { WireTool } from '../base/present-tools.ts'
import type { AskingCall } from '../base/suspended-approval.ts'
import type { GraphApprovals } from './graph-approvals.ts'

/** A node that runs the calls of the last message, and returns the messages with their results. */
export type LangChainNode = (
  state: { readonly messages: readonly unknown[] },
  config?: object,
) => Promise<{ messages: never[] }>

/** What a node stands on. */
export interface NodeContext {
  readonly session: Session
  readonly door: SdkDoor
  readonly approvals: GraphApprovals
}

interface ModelCall {
  readonly id: string
  readonly name: string
  readonly args: unknown
}

/** Makes the node that runs all calls of one answer as one step. */
export function createToolNode(tools: readonly unknown[], context: NodeContext): LangChainNode {
  const byName = new Map(context.door.tools.list.map((tool, index) => [tool.name, tools[index]]))
  return async ({ messages }, config = {}) => {
    const calls = readCalls(messages)
    const known = calls.flatMap((call) => {
      const tool = context.door.tools.find(call.name)
      return tool === undefined ? [] : { call, tool }
    })
    if (context.approvals.canAsk(config)) await askAboutAll(known, context)
    context.door.expect(known.map(({ tool, call: { id, args } }) => [tool, { id, input: args }]))
    const results = await Promise.all(
      calls.map((call) => {
        const tool = context.door.tools.find(call.name)
        const made = tool && byName.get(tool.name)
        return isInvocable(made)
          ? made.invoke({ ...call, type: 'tool_call' }, config)
          : recordUnknown(call, context)
      }),
    )
    // Messages of the LangChain that the program uses; its reducer takes them, and plain ones.
    return { messages: results as never[] }
  }
}

/** Interrupts until every question is decided. What was decided is not touched meanwhile: it runs with the others, in the order of the model. */
async function askAboutAll(
  known: readonly { call: ModelCall; tool: WireTool }[],
  { door, approvals }: NodeContext,
): Promise<void> {
  for (;;) {
    const asked = await Promise.all(
      known.map(async ({ tool, call: { id, args } }): Promise<AskingCall | undefined> => {
        const isDecided = door.findQuestions(tool, { callId: id }).some(({ state }) => state !== 'waiting')
        if (isDecided) return undefined
        const call = { id, input: args }
        const waiting = await door.ask(tool, call)
        return waiting && { tool, call, approval: waiting.approval }
      }),
    )
    const waiting = asked.filter((each) => each !== undefined)
    if (waiting.length === 0) return
    await approvals.ask(waiting)
  }
}

async function recordUnknown(
  { id, name, args }: ModelCall,
  { session, door }: NodeContext,
): Promise<unknown> {
  const result = await session.call(name, args, { id, origin: 'llm', rawName: name })
  const { text } = describeEnd({ result }, (each) => door.tools.say(each))
  return { role: 'tool', content: text, tool_call_id: id, name, status: 'error' }
}

function readCalls(messages: readonly unknown[]): ModelCall[] {
  const last = messages.findLast((each) => isObject(each) && 'tool_calls' in each)
  const calls = isObject(last) && 'tool_calls' in last ? listObjects(last.tool_calls) : []
  return calls.map(({ id, name, args }) => ({
    id: typeof id === 'string' ? id : '',
    name: typeof name === 'string' ? name : '',
    args,
  }))
}

function isInvocable(made: unknown): made is { invoke(call: object, config: object): Promise<unknown> } {
  return isObject(made) && 'invoke' in made && typeof made.invoke === 'function'
}
