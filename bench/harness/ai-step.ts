import { generateText, type ToolSet } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import type { Prepared } from './contender.ts'
import { nextInputText } from './task.ts'

export const callsInStep = 20

/** Steps of `generateText` in which the model asks for 20 calls of this tool; `more` goes with each. */
export function makeSteps(name: string, more: { tools: ToolSet; toolApproval?: object }): Prepared['round'] {
  const model = new MockLanguageModelV4({ doGenerate: () => Promise.resolve(answer(name)) })
  return async (calls) => {
    for (let made = 0; made < calls; made += callsInStep)
      await generateText({ model, prompt: 'Add the lines.', ...more })
    model.doGenerateCalls.length = 0
  }
}

function answer(toolName: string) {
  const content = Array.from({ length: callsInStep }, (_, index) => ({
    type: 'tool-call' as const,
    toolCallId: `call-${index}`,
    toolName,
    input: nextInputText(),
  }))
  return {
    content,
    finishReason: { unified: 'tool-calls' as const, raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  }
}
