import type { RunUsage } from '../../contract/agent-run.ts'

/** `1200 tokens in (200 cached), 56 out, cost 0.0123` */
export function describeUsage({ inputTokens, cachedInputTokens, outputTokens, cost }: RunUsage): string {
  const cached = cachedInputTokens === 0 ? '' : ` (${cachedInputTokens} cached)`
  const price = cost === undefined ? '' : `, cost ${Number(cost.toPrecision(4))}`
  return `${inputTokens} tokens in${cached}, ${outputTokens} out${price}`
}
