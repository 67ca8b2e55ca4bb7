import type { AgentModel } from 'handrail/agents'
import { toChunks, type Said } from '../support/said.ts'

/** One answer of an agent: what it says, or what finds that out. */
export type Act = Said | (() => Said | Promise<Said>)

/** What an agent is told so that it acts by this part. */
export function partOf(name: string): string {
  return `Act as "${name}".`
}

/** A model for agents that each act by a part: the one that was named last, answer by answer. */
export function acting(parts: Readonly<Record<string, readonly Act[]>>): AgentModel {
  return {
    specificationVersion: 'v4',
    provider: 'mock',
    modelId: 'mock',
    async doStream({ prompt }: { prompt: readonly { role: string; content: unknown }[] }) {
      const named = prompt.map(({ role, content }) => (role === 'user' ? nameIn(content) : undefined))
      const at = named.findLastIndex((name) => name !== undefined)
      const answers = prompt.slice(at).filter(({ role }) => role === 'assistant').length
      const act = parts[named[at] ?? '']?.[answers]
      if (act === undefined) throw new Error(`"${named[at]}" was asked ${answers + 1} times.`)
      return { stream: ReadableStream.from(toChunks(typeof act === 'function' ? await act() : act)) }
    },
  } as AgentModel
}

/** The part that this text names. */
export function nameIn(content: unknown): string | undefined {
  return /Act as \\?"(\w+)\\?"/.exec(JSON.stringify(content))?.[1]
}
