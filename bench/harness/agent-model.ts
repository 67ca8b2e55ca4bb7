import { nextInputText } from './task.ts'

/** Answers with a call before it answers without one. */
export const turnsOfRun = 20

/** A model of the AI SDK that costs next to nothing: it calls the tool of this name by turns, and then says a word. */
export function makeAgentModel(tool: string) {
  return {
    specificationVersion: 'v4' as const,
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    async doStream({ prompt }: { prompt: readonly { readonly role: string }[] }) {
      const turn = prompt.reduce((count, { role }) => count + (role === 'assistant' ? 1 : 0), 0)
      return { stream: ReadableStream.from(turn < turnsOfRun ? calling(tool, turn) : said) }
    },
  }
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

function calling(toolName: string, turn: number): object[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'tool-call', toolCallId: `call-${turn}`, toolName, input: nextInputText() },
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
  ]
}

const said = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: 'Done.' },
  { type: 'text-end', id: '0' },
  { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
]
