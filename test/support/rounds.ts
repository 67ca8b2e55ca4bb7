import { inject } from 'vitest'

/** How often something is done: few times in `npm test`, all the times in `npm run test:long`. */
export function rounds({ usual, long }: { readonly usual: number; readonly long: number }): number {
  return inject('isLong') ? long : usual
}

/** All of these in `npm run test:long`, and the first one in `npm test`: doors, users or versions that one promise holds for alike. */
export function firstOf<T>(all: readonly T[]): readonly T[] {
  return inject('isLong') ? all : all.slice(0, 1)
}
