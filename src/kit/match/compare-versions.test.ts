import { expect, test } from 'vitest'
import { compareVersions, type VersionStep } from './compare-versions.ts'

test.each<[string, string, VersionStep]>([
  ['1.0.0', '2.0.0', 'major'],
  ['0.9.9', '1.0.0', 'major'],
  ['1.2.3', '1.3.0', 'minor'],
  ['1.2.3', '1.2.4', 'patch'],
  ['1.2.3', '1.2.3', 'same'],
  ['1.2.3+a', '1.2.3+b', 'same'],
  ['1.9.0', '1.10.0', 'minor'],
  ['9007199254740993.0.0', '9007199254740994.0.0', 'major'],
  ['2.0.0', '1.9.9', 'lower'],
  ['1.0.0', '1.0.0-rc.1', 'lower'],
  ['1.0.0-rc.1', '1.0.0', 'patch'],
  ['1.0.0', '2.0.0-alpha', 'major'],
])('%s to %s is %s (DEF-9)', (before, after, step) => {
  expect(compareVersions(before, after)).toBe(step)
})

test('pre-releases are ordered as SemVer 2.0.0 orders them (DEF-9)', () => {
  const order = ['alpha', 'alpha.1', 'alpha.beta', 'beta', 'beta.2', 'beta.11', 'rc.1']
  const versions = [...order.map((tag) => `1.0.0-${tag}`), '1.0.0']
  for (const [index, version] of versions.entries())
    for (const [later, other] of versions.entries())
      expect(compareVersions(version, other)).toBe(
        index === later ? 'same' : index < later ? 'patch' : 'lower',
      )
})
