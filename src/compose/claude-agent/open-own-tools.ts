import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ToolResult } from '../../contract/base/result.ts'
import type { Runtime, Session } from '../../contract/runtime.ts'
import { listAll } from '../../doors/base/present-tools.ts'
import { createSdkDoor, type SdkDoor } from '../../doors/base/create-sdk-door.ts'
import { describeEnd } from '../../doors/base/describe-end.ts'
import { meetsPatterns } from '../../kit/match/match-pattern.ts'
import { presentResult } from '../../mcp/server/methods/present-result.ts'
import {
  createToolServer,
  type ServedCall,
  type ToolServer,
} from '../../mcp/server/program/create-tool-server.ts'
import { readingTools } from '../../mcp/server/session/reading-tools.ts'
import { toMcpTool } from '../../mcp/translate/to-mcp-tool.ts'
import type { Verdict } from '../agents/native-agent.ts'

/** The name of the server, which stands in the names of its tools. */
export const serverName = 'handrail'

/** Where the agent says which of its calls a request is. */
const idKey = 'claudecode/toolUseId'

/** The tools of the session, as the agent has them. */
export interface OwnTools {
  readonly server: ToolServer
  /** Decides before the call comes. What a person let through meanwhile has run then, and the call returns its end. */
  decide(call: OwnCall): Promise<Verdict>
}

/** A call that is about to come. */
export interface OwnCall {
  readonly name: string
  readonly id: string
  readonly input: unknown
  readonly signal: AbortSignal
}

/** Opens the tools of a session for an agent in whose process they are. */
export function openOwnTools(
  session: Session,
  { runtime, tools }: { runtime: Runtime; tools?: readonly string[] },
): OwnTools {
  const door = createSdkDoor(session, { approvals: runtime.approvals }, { anew: true })
  const presented = new Map(
    listAll(session).flatMap((tool) => (meetsPatterns(tools, tool.tool) ? [[tool.tool, tool] as const] : [])),
  )
  const say = (text: string): string => door.tools.say(text)
  const find = (name: string) => {
    const tool = door.tools.find(name)
    return tool !== undefined && presented.has(tool.canonical) ? tool : undefined
  }
  const present = (result: ToolResult): CallToolResult =>
    presentResult(result, {
      tool: presented.get(result.tool),
      readable: presented.has(readingTools.artifacts) ? { artifactsOf: result.callId } : {},
      inWireNames: say,
    })
  const call = async ({ name, input, meta, ...rest }: ServedCall): Promise<CallToolResult> => {
    const tool = find(name)
    if (tool === undefined) return present(await refuseUnknown(name, session))
    const id = meta[idKey]
    const end = await door.run(tool, { id: typeof id === 'string' ? id : '', input, ...rest })
    return end.waiting === undefined ? present(end.result) : toText(describeEnd(end, say).text)
  }
  const list = () =>
    Array.from(presented.values(), (tool) => {
      const { name, description } = door.tools.find(tool.tool) ?? tool
      return { ...toMcpTool(tool, name), description }
    })
  const log = (line: string): void => console.error(line)
  return {
    server: createToolServer({ list, call, log }),
    async decide({ name, ...asked }) {
      const tool = find(name)
      // Its server says what is wrong with the name.
      return tool === undefined
        ? { effect: 'allow', reason: 'there is no such tool' }
        : decide(tool, asked, door)
    },
  }
}

async function decide(
  tool: NonNullable<ReturnType<SdkDoor['tools']['find']>>,
  call: Omit<OwnCall, 'name'>,
  door: SdkDoor,
): Promise<Verdict> {
  const waiting = await door.ask(tool, call)
  if (waiting === undefined)
    return { effect: 'allow', reason: `${tool.canonical} is decided about as it runs` }
  return {
    effect: 'deny',
    reason: describeEnd({ waiting }, (text) => door.tools.say(text)).text,
    waiting: true,
  }
}

/** Nothing that could run is run from here: a tool of the session that the agent is not handed is none to it. */
function refuseUnknown(name: string, session: Session): Promise<ToolResult> {
  const isKnown = session.tools({ shared: true, all: true }).some((tool) => tool.tool === name)
  return session.call(isKnown ? `${serverName}.${name}` : name, {}, { origin: 'llm', rawName: name })
}

function toText(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
