import { test } from 'vitest'
import { checkFamilies, families } from './random-families.ts'

test(`in ${families} random families no agent does what one above it may not, or unasked what that is asked for: part 3 of 4 (AGENT-2, POOL-3, AUTH-4)`, () =>
  checkFamilies(3))
