import { expect, test } from 'vitest'
import { globForName, localGlob } from './search-globs.ts'

const local = (glob: string, directory: string) =>
  localGlob(glob, directory, { home: '/home/Me', exactCase: false })

test('takes a relative glob as it is', () => {
  expect(local('**/.env', '/work')).toEqual({ applies: 'below', glob: '**/.env' })
  expect(local('././src/*.ts', '/work')).toEqual({ applies: 'below', glob: 'src/*.ts' })
})

test('cuts an absolute glob to what lies below the directory', () => {
  expect(local('/work/src/*.ts', '/work')).toEqual({ applies: 'below', glob: '/src/*.ts' })
  expect(local('/*/a/**', '/work')).toEqual({ applies: 'below', glob: '/a/**' })
  expect(local('/**/x', '/work/a')).toEqual({ applies: 'below', glob: '/**/x' })
  expect(local('/srv/secret', '/')).toEqual({ applies: 'below', glob: '/srv/secret' })
})

test('tells a directory that is matched as a whole, and one that is not touched', () => {
  expect(local('/work', '/work/a')).toEqual({ applies: 'everywhere' })
  expect(local('/work/**', '/work')).toEqual({ applies: 'everywhere' })
  expect(local('/work', '/workspace')).toEqual({ applies: 'nowhere' })
})

test('knows the home directory, whatever the letter case', () => {
  expect(local('~/.ssh/**', '/home/me')).toEqual({ applies: 'below', glob: '/.ssh/**' })
  expect(local('/home/me/.ssh', '/home/Me/.SSH/keys')).toEqual({ applies: 'everywhere' })
})

test('spells a name so that it means itself alone', () => {
  expect(globForName('a*b [c] {d}!.txt')).toBe(String.raw`/a\*b\ \[c\]\ \{d\}\!.txt`)
})
