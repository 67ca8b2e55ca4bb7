import type { Json, JsonObject } from '../../contract/base/json.ts'

/** What an agent says to a hook. */
export type HookMessage =
  /** It is about to run a tool. */
  | (ToolMessage & { readonly kind: 'before' })
  /** It ran the tool. */
  | (ToolMessage & { readonly kind: 'after'; readonly outcome: 'ok' | 'failed'; readonly response: Json })
  /** Its session, or turn, is over: what has not ended by now will not be told. */
  | { readonly kind: 'over'; readonly session: string }
  /** Something that is not decided about. */
  | { readonly kind: 'other' }

export interface ToolMessage {
  /** The agent's own id of its session. */
  readonly session: string
  /** The agent's own id of the call, if it has one. */
  readonly id: string | undefined
  readonly tool: string
  readonly input: JsonObject
  /** Absolute path of the folder that relative paths of the input start from. */
  readonly cwd: string | undefined
  /** The MCP server and its name of the tool, if the tool is one of a server. */
  readonly server: { readonly name: string; readonly tool: string } | undefined
}

/** What Handrail says to a call: `none` leaves it to the agent's own rules. */
export interface Verdict {
  readonly effect: 'allow' | 'ask' | 'deny' | 'none'
  readonly reason: string
  /** Of a denial: whether it holds only until a person has answered. */
  readonly waiting?: boolean
}

/** What the agent reads as the answer: JSON on standard output, or nothing. */
export type Answer = JsonObject | undefined

/** One of Handrail's tools that a tool of an agent is decided as: its compatible or canonical name, and which field takes which field of the agent, whatever of these is there. */
export interface DecidedAs {
  readonly tool: string
  readonly fields: { readonly [field: string]: readonly string[] }
}

/** A call of one of Handrail's tools, or of one of the agent's own. */
export interface MappedCall {
  readonly tool: string
  readonly input: JsonObject
  /** Of one of the agent's own: what Handrail knows of it. */
  readonly own?: { readonly harmless: boolean }
}

/** An agent that runs its own tools, and tells of their calls. */
export interface NativeAgent {
  /** As the command names it. */
  readonly name: string
  /** As people name it. */
  readonly title: string
  /** Whether it asks its person if a hook says `ask`. */
  readonly asks: boolean
  /** Reads a message; a string says what is wrong with it. `event` is what the reader was told beside it. */
  read(message: JsonObject, event: string | undefined): HookMessage | string
  /** The answer before a tool. After one, the answer is always `{}`. */
  answer(verdict: Verdict): Answer
  readonly tools: {
    readonly [native: string]: DecidedAs | ((input: JsonObject) => readonly MappedCall[] | undefined)
  }
  /** Tools that neither change nor reach anything outside of the agent: its own rules decide. */
  readonly harmless: ReadonlySet<string>
  /** Fields that ask for more than the tool has by itself. If one is set, the call is asked about at least. */
  readonly escalates?: readonly string[]
}
