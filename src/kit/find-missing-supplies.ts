import { ownSupplies } from '../contract/base/supplies.ts'

/** The supplies of `needs` that neither Handrail has nor its host handed in. */
export function findMissingSupplies(
  needs: readonly string[],
  ofHost: Readonly<Record<string, unknown>>,
): string[] {
  const own: readonly string[] = ownSupplies
  return needs.filter(
    (need) => !own.includes(need) && (!Object.hasOwn(ofHost, need) || ofHost[need] === undefined),
  )
}
