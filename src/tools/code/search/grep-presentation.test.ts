import { expect, test } from 'vitest'
import { fromGrep } from './grep-presentation.ts'

test('turns the fields of Grep into canonical ones, within their bounds (FILE-3)', () => {
  const compatible = {
    pattern: 'x',
    output_mode: 'content',
    '-i': true,
    '-n': true,
    '-C': 50,
    '-A': 3,
    head_limit: 5_000,
  }
  expect(fromGrep(compatible)).toEqual({
    query: 'x',
    mode: 'content',
    before: 20,
    after: 3,
    case_insensitive: true,
    multiline: false,
    limit: 1_000,
  })
})

test('gives paths only, and leaves limits to their defaults, where nothing is said', () => {
  expect(fromGrep({ pattern: 'x', path: 'src', glob: '' })).toEqual({
    query: 'x',
    mode: 'files',
    before: 0,
    after: 0,
    case_insensitive: false,
    multiline: false,
    path: 'src',
  })
  expect(fromGrep({ pattern: 'x', head_limit: 0 })).toMatchObject({ limit: 1_000 })
})
