import type { ChainIssue } from '../../contract/evidence.ts'

/** An issue at this place of a chain. */
export function toIssue(
  { tenant, sequence, call }: Pick<ChainIssue, 'tenant' | 'sequence' | 'call'>,
  problem: ChainIssue['problem'],
  message: string,
): ChainIssue {
  return { tenant, sequence, call, problem, message }
}
