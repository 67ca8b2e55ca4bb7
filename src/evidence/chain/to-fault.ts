import type { ChainFault } from '../../contract/evidence.ts'

/** A fault at this place of a chain. */
export function toFault(
  { tenant, sequence, call }: Pick<ChainFault, 'tenant' | 'sequence' | 'call'>,
  problem: ChainFault['problem'],
  message: string,
): ChainFault {
  return { tenant, sequence, call, problem, message }
}
