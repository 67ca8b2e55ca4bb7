import { inject } from 'vitest'

/** How often something is done: few times in `npm test`, all the times in `npm run test:long`. */
export function rounds({ usual, long }: { readonly usual: number; readonly long: number }): number {
  return inject('isLong') ? long : usual
}
