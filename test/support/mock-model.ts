import { MockLanguageModelV4 } from 'ai/test'
import { toChunks, type Said } from './said.ts'

export { toChunks, type Said }

type Answer = Said | Error | ((options: ModelAsked) => Said | Promise<Said>)

/** Says what it is told, answer by answer, and keeps what it was asked. A function sees what it was asked. */
export function modelSaying(answers: readonly Answer[], provider = 'mock-provider') {
  const asked: ModelAsked[] = []
  const model = new MockLanguageModelV4({
    provider,
    modelId: 'mock-model',
    doStream: async (options) => {
      const answer = answers[asked.length]
      asked.push(options as unknown as ModelAsked)
      if (answer === undefined) throw new Error(`The model was asked ${asked.length} times.`)
      if (answer instanceof Error) throw answer
      const said = typeof answer === 'function' ? await answer(options as unknown as ModelAsked) : answer
      return { stream: toStream(said.parts ?? toChunks(said)) as never }
    },
  })
  return { model, asked }
}

/** A stream that never says anything, and hears no abort. */
export function silentStream(): ReadableStream<never> {
  return new ReadableStream<never>()
}

function toStream(parts: readonly (object | Error)[]): ReadableStream<unknown> {
  const chunks = parts[Symbol.iterator]()
  return new ReadableStream({
    pull(controller) {
      const { value, done } = chunks.next()
      if (done === true) controller.close()
      else if (value instanceof Error) controller.error(value)
      else controller.enqueue(value)
    },
  })
}

/** What of a request the tests look at. */
export interface ModelAsked {
  prompt: { role: string; content: string | { type: string; [field: string]: unknown }[] }[]
  tools?: { name: string }[]
  abortSignal?: AbortSignal
}

/** The texts of the results that a request tells, the last first. */
export function toldResults({ prompt }: ModelAsked): string[] {
  return prompt
    .filter(({ role }) => role === 'tool')
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .map(({ output }) => String((output as { value: unknown }).value))
}
