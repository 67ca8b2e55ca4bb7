import type { ModelPrice, RunUsage } from '../../contract/agent-run.ts'
import type { TokenCount } from './read-answer.ts'

/** What an answer took. */
export function toUsage({ input, cachedInput, output }: TokenCount, price: ModelPrice | undefined): RunUsage {
  const tokens = { inputTokens: input, cachedInputTokens: cachedInput, outputTokens: output }
  if (price === undefined) return tokens
  const cached = Math.min(cachedInput, input) * (price.cachedInput ?? price.input)
  const fresh = Math.max(0, input - cachedInput) * price.input
  return { ...tokens, cost: (cached + fresh + output * price.output) / 1e6 }
}

/** The sum of what answers took. */
export function addUsage(one: RunUsage, other: RunUsage): RunUsage {
  const cost =
    one.cost === undefined && other.cost === undefined ? undefined : (one.cost ?? 0) + (other.cost ?? 0)
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(cost !== undefined && { cost }),
  }
}

/** Nothing yet. */
export const noUsage: RunUsage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 }
