import { expect, test } from 'vitest'
import { isReservedOnWindows } from './is-reserved-on-windows.ts'
import { toAbsolutePath } from './to-absolute-path.ts'

test('takes away dots without looking at the disk', () => {
  expect(toAbsolutePath('a/./b/../c/', '/work')).toBe('/work/a/c')
  expect(toAbsolutePath('', '/work')).toBe('/work')
  expect(toAbsolutePath('../../..', '/work')).toBe('/')
})

test.each(['~/.ssh/id_rsa', '%2e%2e/x', '．．／x', 'a b\\c', 'file.txt:payload.exe', '-rf', '日本'])(
  'takes %j as it is: path traversal FS-06, FS-08, FS-17',
  (text) => {
    expect(toAbsolutePath(text, '/work')).toBe(`/work/${text}`)
  },
)

test.each([
  '\\\\server\\share\\x',
  '\\\\?\\C:\\x',
  '//server/share/x',
  'a\0b',
  'a\uD800b',
  'a'.repeat(256),
  '字'.repeat(86),
  'a/'.repeat(3000),
])('refuses %j, which can name no file here: path traversal FS-15', (text) => {
  expect(() => toAbsolutePath(text, '/work')).toThrow(
    expect.objectContaining({ code: 'SANDBOX.CAPABILITY_BLOCKED', reason: 'path_outside_roots' }),
  )
})

test('takes the longest names that a file system knows', () => {
  expect(toAbsolutePath('字'.repeat(85), '/work')).toBe(`/work/${'字'.repeat(85)}`)
})

test.each(['CON', 'a/nul.txt', 'COM1', 'file.txt:payload.exe', '\\\\.\\pipe\\x', 'c:x'])(
  'knows that %j is not a file on Windows: path traversal FS-16',
  (text) => {
    expect(isReservedOnWindows(text)).toBe(true)
  },
)

test.each(['C:\\work\\a.txt', 'console.log', 'a/b', 'com10'])(
  'knows that %j is a file on Windows',
  (text) => {
    expect(isReservedOnWindows(text)).toBe(false)
  },
)
