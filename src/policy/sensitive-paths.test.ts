import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchPath } from '../kit/match/match-pattern.ts'
import { compileSensitivePaths } from './sensitive-paths.ts'
import { rounds } from '../../test/support/rounds.ts'

const word = (letters: string) =>
  fc.string({ unit: fc.constantFrom(...letters.split('')), minLength: 1, maxLength: 4 })

test('a pattern covers what its glob matches and all below, however it is compiled (FILE-8)', () => {
  fc.assert(
    fc.property(word('ab.*?'), word('ab.*?'), fc.tuple(word('abc.'), word('abc.')), (name, place, names) => {
      const [folder, file] = names
      const path = `/${folder}/${file}`
      const named = [folder, file].some((segment) => matchPath(name, segment))
      expect(compileSensitivePaths([name], '/home').covers(path)).toBe(named)
      for (const pattern of [`/${place}`, `/${folder}/${place}`, `/${folder}`, path]) {
        const placed = matchPath(pattern, path) || matchPath(`${pattern}/**`, path)
        expect([pattern, compileSensitivePaths([pattern], '/home').covers(path)]).toEqual([pattern, placed])
      }
    }),
    { numRuns: rounds({ usual: 500, long: 2_000 }) },
  )
})
