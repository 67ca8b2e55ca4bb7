import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { canary, openTestSandbox, type TestSandbox } from './open-test-sandbox.fixture.ts'

const nobody = 65_534

/**
 * Runs the body as a program of its own, as an unprivileged user where this process is root, with `files` and `attempt` at hand.
 * Returns what it returns.
 */
function runUnprivileged(place: TestSandbox, body: string, shell = ''): unknown {
  const source = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
  const script = `
    import { createHostSandbox } from ${source('./create-host-sandbox.ts')}
    import { fileDigest } from ${source('../../kit/json/digest.ts')}
    const project = ${JSON.stringify(place.project)}
    const profile = { readRoots: [project], writeRoots: [project], executables: ['*'] }
    const sandbox = createHostSandbox({ project, env: { PATH: process.env.PATH }, home: '/' })
    const { files, commands } = sandbox.enter(profile, { access: 'write' })
    const attempt = (work) => work.then(() => 'done', (error) => error.reason ?? String(error))
    console.log(JSON.stringify(await (async () => { ${body} })()))`
  const identity = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
  const command = `${shell} exec "$0" --input-type=module -e "$1"`
  const child = spawnSync('/bin/sh', ['-c', command, process.execPath, script], {
    ...identity,
    cwd: '/',
    encoding: 'utf8',
  })
  expect(child.stderr).toBe('')
  return JSON.parse(child.stdout)
}

/** Lets the unprivileged user own everything in the project. */
function giveAway(place: TestSandbox, ...paths: string[]): void {
  chmodSync(dirname(place.project), 0o755)
  if (process.getuid?.() !== 0) return
  for (const path of ['.', ...paths]) chownSync(join(place.project, path), nobody, nobody)
}

test('says permission_denied where the system refuses, as an unprivileged user (FILE-9)', async () => {
  await using place = openTestSandbox()
  for (const path of ['secret', 'fixed', 'shut/in', 'locked/in']) place.put(path, 'old')
  giveAway(place, 'secret', 'fixed', 'shut', 'locked', 'shut/in')
  chmodSync(join(place.project, 'secret'), 0)
  chmodSync(join(place.project, 'fixed'), 0o444)
  chmodSync(join(place.project, 'shut'), 0o555)
  chmodSync(join(place.project, 'locked'), 0)
  const result = runUnprivileged(
    place,
    `const bytes = Buffer.from('new'), absent = { createDirs: true, expect: 'absent' }
     const over = { createDirs: false, expect: { digest: fileDigest('old') } }
     return {
       read: await attempt(files.read('secret')),
       stat: (await files.stat('secret')).size,
       enter: await attempt(files.read('locked/in')),
       list: await attempt(files.list('locked', { recursive: false, limit: 9 })),
       fixed: await attempt(files.write('fixed', bytes, over)),
       create: await attempt(files.write('shut/new', bytes, absent)),
       makeDirectory: await attempt(files.write('shut/a/new', bytes, absent)),
       replace: await attempt(files.write('shut/in', bytes, over)),
       all: await files.list('.', { recursive: true, limit: 99 }),
     }`,
  )
  expect(result).toEqual({
    read: 'permission_denied',
    stat: 3,
    enter: 'permission_denied',
    list: 'permission_denied',
    fixed: 'permission_denied',
    create: 'permission_denied',
    makeDirectory: 'permission_denied',
    replace: 'permission_denied',
    all: {
      entries: ['fixed', 'locked', 'secret', 'shut', 'shut/in'].map((path) =>
        expect.objectContaining({ path }),
      ),
      truncated: true,
    },
  })
  for (const path of ['locked', 'shut']) chmodSync(join(place.project, path), 0o755)
})

test('refuses a link to where it may not even look, as an unprivileged user: symlink FS-19', async () => {
  await using place = openTestSandbox()
  const hidden = join(place.outside, 'hidden')
  mkdirSync(hidden)
  writeFileSync(join(hidden, 'canary.txt'), canary)
  symlinkSync(join(hidden, 'canary.txt'), join(place.project, 'link'))
  giveAway(place)
  chmodSync(hidden, 0)
  const result = runUnprivileged(
    place,
    `return [await attempt(files.read('link')), await attempt(files.read('link/x')), await attempt(files.stat('link'))]`,
  )
  expect(result).toEqual(Array(3).fill('path_outside_roots'))
  chmodSync(hidden, 0o755)
})

test('creates and replaces files and runs programs as an unprivileged user', async () => {
  await using place = openTestSandbox()
  giveAway(place)
  const result = runUnprivileged(
    place,
    `await files.write('a/b', Buffer.from('one'), { createDirs: true, expect: 'absent' })
     await files.write('a/b', Buffer.from('two'), { createDirs: true, expect: { digest: fileDigest('one') } })
     const outcome = await commands.run({ executable: 'cat', argv: ['cat', 'b'], cwd: 'a', timeoutMs: 9000, maxBytes: 99,
       signal: new AbortController().signal })
     return [outcome.stdout.head, outcome.survivors]`,
  )
  expect(result).toEqual(['two', []])
})

test('keeps the old content and leaves nothing behind when the new one does not fit', async () => {
  await using place = openTestSandbox()
  const path = place.put('old', 'old')
  giveAway(place, 'old')
  const result = runUnprivileged(
    place,
    `const large = Buffer.alloc(100_000, 'x')
     return [
       await attempt(files.write('old', large, { createDirs: false, expect: { digest: fileDigest('old') } })),
       await attempt(files.write('new', large, { createDirs: false, expect: 'absent' })),
     ]`,
    'ulimit -f 8;',
  )
  expect(result).toEqual(['no_space', 'no_space'])
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(readdirSync(place.project)).toEqual(['old'])
})
