import { expect, test } from 'vitest'
import { tellOnce } from './tell-once.ts'

test('a cause that fails many simulations is told by the first of them', () => {
  const found = (id: string, holds: boolean, detail: string) => ({ id, holds, needed: true, detail })
  const findings = [
    found('clock', true, 'well'),
    found('user', false, 'no way in'),
    found('space', true, 'well'),
    found('disk', false, 'no way in'),
  ]
  const details = tellOnce(findings).map(({ detail }) => detail)
  expect(details).toEqual(['well', 'no way in', 'well', 'as for "user"'])
})
