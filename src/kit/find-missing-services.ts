import { ownServices } from '../contract/tool/services.ts'

/** The services of `needs` that neither Handrail has nor its host handed in. */
export function findMissingServices(
  needs: readonly string[],
  ofHost: Readonly<Record<string, unknown>>,
): string[] {
  const own: readonly string[] = ownServices
  return needs.filter(
    (need) => !own.includes(need) && (!Object.hasOwn(ofHost, need) || ofHost[need] === undefined),
  )
}
