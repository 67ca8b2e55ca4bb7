import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { judgeProfile } from './judge-profile.fixture.ts'
import { writeSandbox } from './write-sandbox.ts'
import { toSandboxRules, type SandboxPlan } from './sandbox-rules.ts'
import { toFrame } from './to-frame.ts'

// The library writes the profile of macOS wherever it is told that it runs there; only macOS itself obeys one.
function onMac(): void {
  const before = process.platform
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  onTestFinished(() => {
    Object.defineProperty(process, 'platform', { value: before })
  })
}

const nothing: SandboxPlan = {
  places: { readOnly: [], writable: [] },
  system: ['/usr'],
  links: [],
  hidden: { files: [], folders: [] },
  guarded: { pinned: [], readOnly: [], absent: [], present: new Map(), identities: new Map() },
  own: '/own',
  unasked: ['/dev/null', '/tmp/claude'],
}

/** The profile for such a command, as sandbox-exec would get it. */
async function profileFor(plan: Partial<SandboxPlan>): Promise<string> {
  onMac()
  const written = await writeSandbox(toSandboxRules({ ...nothing, ...plan }))
  expect(written).toEqual(['-p', expect.any(String)])
  return written[1] ?? ''
}

test('on macOS a command reads its roots and the system, and nothing else (FILE-7, SB-1)', async () => {
  const profile = await profileFor({ places: { readOnly: ['/read'], writable: ['/work'] } })
  const read = (path: string) => judgeProfile(profile, 'file-read-data', path)
  expect(['/read/a', '/work/a', '/usr/bin/sh', '/own/a'].map(read)).toEqual(Array(4).fill('allow'))
  expect(['/home/a', '/read-not/a', '/Users/me/.ssh/id', '/private/etc/passwd'].map(read)).toEqual(
    Array(4).fill('deny'),
  )
})

test('on macOS a command writes its write roots, and nothing that the library lets others write (FILE-7)', async () => {
  const profile = await profileFor({ places: { readOnly: ['/read'], writable: ['/work'] } })
  const write = (path: string) => judgeProfile(profile, 'file-write-data', path)
  expect(['/work/a', '/own/a', '/dev/null'].map(write)).toEqual(Array(3).fill('allow'))
  expect(['/read/a', '/usr/a', '/tmp/claude/a', '/work-not/a', '/a'].map(write)).toEqual(
    Array(5).fill('deny'),
  )
})

test('on macOS nothing of the network is allowed, not even the loopback (FILE-7)', async () => {
  const profile = await profileFor({ places: { readOnly: [], writable: ['/work'] } })
  const network = ['network-outbound', 'network-inbound', 'network-bind']
  expect(network.map((operation) => judgeProfile(profile, operation, '/work/socket'))).toEqual(
    Array(3).fill('deny'),
  )
  expect(profile).not.toMatch(/\(allow network|socket-domain AF_UNIX/)
})

test('on macOS what is hidden is neither read nor written nor moved (FILE-8)', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-test-')))
  writeFileSync(join(root, '.env'), '')
  mkdirSync(join(root, 'keys'))
  const profile = await profileFor({
    places: { readOnly: [], writable: [root] },
    hidden: { files: [join(root, '.env')], folders: [join(root, 'keys')] },
  })
  for (const path of ['.env', 'keys/a'])
    expect(
      ['file-read-data', 'file-write-data', 'file-write-unlink'].map((operation) =>
        judgeProfile(profile, operation, join(root, path)),
      ),
    ).toEqual(['deny', 'deny', 'deny'])
  expect(judgeProfile(profile, 'file-read-data', join(root, 'else'))).toBe('allow')
})

test('on macOS what is protected is read and not written, also where nothing is yet, and its folder keeps its place (FS-41)', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-test-')))
  mkdirSync(join(root, '.git', 'hooks'), { recursive: true })
  const profile = await profileFor({
    places: { readOnly: [], writable: [root] },
    guarded: {
      pinned: [],
      readOnly: [join(root, '.git', 'hooks')],
      absent: [join(root, '.envrc')],
      present: new Map(),
      identities: new Map(),
    },
  })
  for (const path of ['.git/hooks/pre-commit', '.envrc'])
    expect(
      ['file-read-data', 'file-write-data', 'file-write-create'].map((operation) =>
        judgeProfile(profile, operation, join(root, path)),
      ),
    ).toEqual(['allow', 'deny', 'deny'])
  expect(judgeProfile(profile, 'file-write-unlink', join(root, '.git'))).toBe('deny')
  expect(judgeProfile(profile, 'file-write-data', join(root, '.git', 'index'))).toBe('allow')
})

test.each(['a[b]c', '*', "it's", 'quote"d', 'back\\slash', 'new\nline', '$(id)', 'a) (allow default'])(
  'on macOS a root of the name %j is that root and no other (FILE-7)',
  async (name) => {
    const root = join(realpathSync(mkdtempSync(join(tmpdir(), 'handrail-test-'))), name)
    mkdirSync(root)
    const profile = await profileFor({ places: { readOnly: [], writable: [root] } })
    expect(profile).toContain(`(subpath ${JSON.stringify(root)})`)
    expect(profile.match(/^\(allow default/gm)).toBeNull()
    for (const other of ['abc', 'else'])
      expect(judgeProfile(profile, 'file-read-data', join(root, '..', other))).toBe('deny')
  },
)

test('on macOS a link of the system is gone through without showing what it leads to', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-test-')))
  mkdirSync(join(folder, 'target'))
  symlinkSync('target', join(folder, 'link'))
  const profile = await profileFor({ links: [join(folder, '[l]ink')] })
  expect(judgeProfile(profile, 'file-read-data', join(folder, 'link'))).toBe('allow')
  expect(judgeProfile(profile, 'file-read-data', join(folder, 'target'))).toBe('deny')
  expect(judgeProfile(profile, 'file-read-data', join(folder, 'link', 'a'))).toBe('deny')
})

test('sandboxes of different rules are written at the same time, each with its own', async () => {
  onMac()
  const written = await Promise.all(
    ['/a', '/b', '/c'].map((root) =>
      writeSandbox(toSandboxRules({ ...nothing, places: { readOnly: [root], writable: [] } })),
    ),
  )
  expect(
    written.map(([, profile = '']) =>
      ['/a', '/b', '/c'].filter((root) => judgeProfile(profile, 'file-read-data', `${root}/x`) === 'allow'),
    ),
  ).toEqual([['/a'], ['/b'], ['/c']])
})

test.each([
  ['another program', "bwrap -- /bin/sh -c 'false'"],
  ['no shell', 'bwrap -- true'],
  ['no sandbox at all', 'true'],
  ['nothing', ''],
  ['a second command', "env A=1 /usr/bin/sandbox-exec -p '(version 1)' /bin/sh -c true; id"],
  ['more than the command', "env A=1 /usr/bin/sandbox-exec -p '(version 1)' /bin/sh -c true more"],
  ['no profile', 'env A=1 /usr/bin/sandbox-exec -f file /bin/sh -c true'],
  ['a variable', 'env A=1 /usr/bin/sandbox-exec -p "$PROFILE" /bin/sh -c true'],
  ['another program before it', "sudo A=1 /usr/bin/sandbox-exec -p '(version 1)' /bin/sh -c true"],
  ['an option before it', "env -S x /usr/bin/sandbox-exec -p '(version 1)' /bin/sh -c true"],
])('a line of the library with %s is not taken for a sandbox', (_what, line) => {
  expect(toFrame(line, 'true')).toBeUndefined()
})

test('the sandbox is taken out of what the library writes for each system', () => {
  expect(toFrame(`env A=1 /usr/bin/sandbox-exec -p '(it'"'"'s)' /bin/sh -c true`, 'true')).toEqual([
    '-p',
    "(it's)",
  ])
  expect(toFrame('bwrap --unshare-net -- /bin/sh -c true', 'true')).toEqual(['--unshare-net', '--'])
  expect(toFrame("bwrap --dev /dev -- /bin/sh -c 'N=0 /opt/filter /bin/sh -c true'", 'true')).toEqual([
    '--dev',
    '/dev',
    '--setenv',
    'N',
    '0',
    '--',
    '/opt/filter',
  ])
})
