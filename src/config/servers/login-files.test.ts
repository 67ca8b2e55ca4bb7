import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  mkdirSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLoginFiles } from './login-files.ts'

const place = { tenant: 'acme', server: 'https://mcp.example/mcp' }
const login = { clients: {}, tokens: { access_token: 'a', token_type: 'Bearer' } }

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-logins-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a login is kept for one tenant and one server, in a file that only its owner sees', () => {
  const folder = join(makeFolder(), 'logins')
  mkdirSync(folder, { mode: 0o755 })
  const keep = createLoginFiles(folder)
  expect(keep.read(place)).toBeUndefined()
  keep.write(place, login)
  const [name = ''] = readdirSync(folder)
  expect([statSync(folder).mode & 0o777, statSync(join(folder, name)).mode & 0o777]).toEqual([0o700, 0o600])
  expect(keep.read(place)).toMatchObject(login)
  expect(keep.read({ ...place, tenant: 'other' })).toBeUndefined()
  expect(keep.read({ ...place, server: 'https://mcp.example/' })).toBeUndefined()
  keep.remove(place)
  keep.remove(place)
  expect([keep.read(place), readdirSync(folder)]).toEqual([undefined, []])
})

test('what another process writes is seen at once, and is another object only then', () => {
  const folder = makeFolder()
  const ours = createLoginFiles(folder)
  const theirs = createLoginFiles(folder)
  ours.write(place, login)
  const first = theirs.read(place)
  expect(theirs.read(place)).toBe(first)
  ours.write(place, { ...login, wanted: 'more' })
  expect(theirs.read(place)).toMatchObject({ wanted: 'more' })
  ours.remove(place)
  expect(theirs.read(place)).toBeUndefined()
})

test('a file that is broken, or that lies in the place of another one, holds no login', () => {
  const folder = makeFolder()
  const keep = createLoginFiles(folder)
  keep.write(place, login)
  const [name = ''] = readdirSync(folder)
  const path = join(folder, name)
  const good = readFileSync(path, 'utf8')
  for (const text of ['', '{', '[]', good.replace('acme', 'evil'), good.replace('/mcp', '/cmp')]) {
    writeFileSync(path, text)
    expect(keep.read(place)).toBeUndefined()
  }
  writeFileSync(path, good.replace('"clients": {}', '"clients": 3'))
  expect(keep.read(place)).toMatchObject({ clients: {} })
})

test('what cannot even be looked for is not a login, and ends nothing', () => {
  const loop = join(makeFolder(), 'loop')
  symlinkSync(loop, loop)
  expect(createLoginFiles(loop).read(place)).toBeUndefined()
})

test('a folder that cannot be made is said', () => {
  const file = join(makeFolder(), 'file')
  writeFileSync(file, '')
  expect(() => createLoginFiles(join(file, 'logins')).write(place, login)).toThrow(
    /cannot be made \(ENOTDIR\)/,
  )
})
