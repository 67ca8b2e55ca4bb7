import type { TenantContext } from './scope.ts'
import type { CheckedInput } from './call-state.ts'

/**
 * What makes two inputs the same, in all that is kept of them: the keyed digest of what was said, secrets and all. So two inputs that
 * differ in a secret alone are two, and a reader of the digest cannot try what was said.
 */
export function saidDigest(checked: CheckedInput, { store }: TenantContext): string {
  return (checked.saidDigest ??= store.digest(checked.saidText))
}

/** The same within one session, where nothing of it is kept: what is shown names an input of which nothing is hidden. */
export function inputIdentity(checked: CheckedInput, tenant: TenantContext): string {
  return checked.shownText === checked.saidText ? checked.shownDigest : saidDigest(checked, tenant)
}
