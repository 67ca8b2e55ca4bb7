import type { MockLanguageModelV4 } from 'ai/test'
import type { SuspendedCalls } from 'handrail/approvals'
import type { MakeMastraTool } from 'handrail/mastra'

// Stands for `@mastra/core` 1.71, as far as an example uses it: how its agents call tools, suspend and go on.

type Fields = Parameters<MakeMastraTool<unknown>>[0]
type Prompt = Parameters<MockLanguageModelV4['doGenerate']>[0]['prompt']

/** A tool, as it was made. */
export const createTool: MakeMastraTool<Fields> = (fields) => fields

interface AgentParts {
  id: string
  name: string
  instructions: string
  model: MockLanguageModelV4
  tools: { readonly [name: string]: Fields }
}

interface Suspended {
  readonly prompt: Prompt
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

interface Made {
  readonly runId: string
  readonly text: string
  readonly suspendPayload: { readonly suspendPayload: SuspendedCalls }
}

/** An agent that calls one tool at a time. */
export class Agent {
  readonly #parts: AgentParts
  readonly #runs = new Map<string, Suspended>()

  constructor(parts: AgentParts) {
    this.#parts = parts
  }

  generate(text: string): Promise<Made> {
    return this.#run([{ role: 'user', content: [{ type: 'text', text }] }])
  }

  async resumeGenerate(resumeData: unknown, { runId }: { runId: string }): Promise<Made> {
    const run = this.#runs.get(runId)
    if (run === undefined) throw new Error(`There is no suspended run "${runId}".`)
    this.#runs.delete(runId)
    const { prompt, ...call } = run
    const result = await this.#call(call, resumeData)
    return result.suspended !== undefined
      ? this.#suspend(run, result.suspended)
      : this.#run([...prompt, result.message])
  }

  async #run(prompt: Prompt): Promise<Made> {
    const { content } = await this.#parts.model.doGenerate({ prompt })
    const [part] = content
    if (part?.type === 'text')
      return { runId: '', text: part.text, suspendPayload: { suspendPayload: { approvals: [] } } }
    if (part?.type !== 'tool-call') throw new Error('The model neither answered nor called a tool.')
    const { toolCallId, toolName } = part
    const input: unknown = JSON.parse(part.input)
    const asked: Prompt = [...prompt, { role: 'assistant', content: [{ ...part, input }] }]
    const result = await this.#call({ toolCallId, toolName, input })
    if (result.suspended !== undefined)
      return this.#suspend({ prompt: asked, toolCallId, toolName, input }, result.suspended)
    return this.#run([...asked, result.message])
  }

  #suspend(run: Suspended, suspendPayload: SuspendedCalls): Made {
    const runId = crypto.randomUUID()
    this.#runs.set(runId, run)
    return { runId, text: '', suspendPayload: { suspendPayload } }
  }

  async #call({ toolCallId, toolName, input }: Omit<Suspended, 'prompt'>, resumeData?: unknown) {
    const suspended: SuspendedCalls[] = []
    const suspend = async (payload: SuspendedCalls): Promise<void> => void suspended.push(payload)
    const tool = this.#parts.tools[toolName]
    const output = await tool?.execute(input, { agent: { toolCallId, suspend, resumeData } })
    const [first] = suspended
    if (first !== undefined) return { suspended: first, message: undefined }
    const shown = tool?.toModelOutput(output) as never
    const result = { type: 'tool-result', toolCallId, toolName, output: shown } as const
    const message: Prompt[number] = { role: 'tool', content: [result] }
    return { message, suspended: undefined }
  }
}

/** Keeps nothing: a run is kept by its agent. */
export class InMemoryStore {}

/** The agents of a program. */
export class Mastra {
  readonly #agents: { readonly [name: string]: Agent }

  constructor({
    agents,
  }: {
    agents: { readonly [name: string]: Agent }
    storage: InMemoryStore
    logger: false
  }) {
    this.#agents = agents
  }

  getAgent(name: string): Agent {
    const agent = this.#agents[name]
    if (agent === undefined) throw new Error(`There is no agent "${name}".`)
    return agent
  }
}
