import { expect, test } from 'vitest'
import { readHostPattern, showHostPattern } from './host-pattern.ts'
import { matchHost } from './match-host.ts'

test.each([
  ['db.example:5432', 'db.example', 5432],
  ['*.example:81', '*.example', 81],
  ['*:81', '*', 81],
  ['10.0.0.1:5432', '10.0.0.1', 5432],
  ['[::1]:5432', '::1', 5432],
  ['::1', '::1', undefined],
  ['fe80::1:5432', 'fe80::1:5432', undefined],
  ['db.example', 'db.example', undefined],
  ['https://db.example', 'https://db.example', undefined],
  ['*', '*', undefined],
])('%s is a pattern of %s and of the port %s', (text, host, port) => {
  expect(readHostPattern(text)).toEqual({ host, port })
  expect(showHostPattern({ host, port })).toBe(text)
  expect(matchHost(text, host.replace('*', 'any'))).toBe(true)
  expect(matchHost(text, `other.test`)).toBe(host === '*')
})
