import { expect, test } from 'vitest'
import { exclusionsFor, isExcluded } from './exclusions.ts'

const globs = ['**/.env', '**/.env/**', '**/*.pem', '/home/me/.ssh', '/home/me/.ssh/**']

test('leaves out sensitive paths whatever their letter case (FILE-8)', () => {
  expect(isExcluded('/srv/app/.env', globs)).toBe(true)
  expect(isExcluded('/srv/app/.ENV/inner', globs)).toBe(true)
  expect(isExcluded('/home/me/.ssh', globs)).toBe(true)
  expect(isExcluded('/srv/app/env', globs)).toBe(false)
})

test('keeps what a person was asked about by name (FILE-8)', () => {
  expect(exclusionsFor('/srv/app', globs)).toEqual(globs)
  const others = ['**/*.pem', '/home/me/.ssh', '/home/me/.ssh/**']
  expect(exclusionsFor('/srv/app/.env', globs)).toEqual(others)
  expect(exclusionsFor('/home/me/.ssh/keys', globs)).toEqual(['**/.env', '**/.env/**', '**/*.pem'])
})
