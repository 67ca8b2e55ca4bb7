import { MockLanguageModelV4 } from 'ai/test'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** In the place of a real model, so that the examples run without a key: it looks, refunds, and says what it was told. */
export function createModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []))
      const toolName = ['shop__look', 'shop__refund'][results.length]
      if (toolName === undefined) {
        const text = `I was told ${JSON.stringify(results.at(-1))}`
        const finishReason = { unified: 'stop', raw: 'stop' } as const
        return { content: [{ type: 'text', text }], finishReason, usage, warnings: [] }
      }
      const toolCallId = `call_${results.length + 1}`
      const finishReason = { unified: 'tool-calls', raw: 'tool_calls' } as const
      const call = { type: 'tool-call', toolCallId, toolName, input: '{"order":"12"}' } as const
      return { content: [call], finishReason, usage, warnings: [] }
    },
  })
}
