import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { atEveryEntrance } from '../../support/sandbox-entrances.ts'

const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97
const numbers = process.arch === 'arm64' ? 1 : 0

/** Calls of the kernel by their numbers on x86-64 and arm64, and what they fail with. */
const calls: readonly (readonly [name: string, x64: number, arm64: number, rest: string, error: number])[] = [
  ['mount', 165, 40, '$s, $s, $s, 0, 0', EPERM],
  ['umount2', 166, 39, '$s, 0', EPERM],
  ['pivot_root', 155, 41, '$s, $s', EPERM],
  ['move_mount', 429, 429, '-1, $s, -1, $s, 0', EPERM],
  ['open_tree', 428, 428, '-100, $s, 1', EPERM],
  ['fsopen', 430, 430, '$s, 0', EPERM],
  ['unshare of the user', 272, 97, '0x10000000', EPERM],
  ['unshare of the mounts', 272, 97, '0x20000', EPERM],
  ['setns', 308, 268, '0, 0', EPERM],
  ['clone into a new user namespace', 56, 220, '0x10000011, 0, 0, 0, 0', EPERM],
  ['clone into new processes', 56, 220, '0x20000011, 0, 0, 0, 0', EPERM],
  ['clone3', 435, 435, '0, 0', ENOSYS],
  ['openat2', 437, 437, '-100, $s, 0, 0', ENOSYS],
  ['ptrace', 101, 117, '0, 0, 0, 0', EPERM],
  ['process_vm_readv', 310, 270, '1, 0, 0, 0, 0, 0', EPERM],
  ['process_vm_writev', 311, 271, '1, 0, 0, 0, 0, 0', EPERM],
  ['pidfd_getfd', 438, 438, '0, 0, 0', EPERM],
  ['io_uring_setup', 425, 425, '1, 0', EPERM],
  ['io_uring_enter', 426, 426, '0, 0, 0, 0, 0, 0', EPERM],
  ['bpf', 321, 280, '0, 0, 0', EPERM],
  ['keyctl', 250, 219, '0, 0, 0, 0, 0', EPERM],
  ['add_key', 248, 217, '$s, $s, $s, 1, -2', EPERM],
  ['userfaultfd', 323, 282, '0', EPERM],
  ['perf_event_open', 298, 241, '0, 0, 0, 0, 0', EPERM],
  ['kexec_load', 246, 104, '0, 0, 0, 0', EPERM],
  ['init_module', 175, 105, '0, 0, 0', EPERM],
  ['open_by_handle_at', 304, 265, '-1, 0, 0', EPERM],
  ['fanotify_init', 300, 262, '0, 0', EPERM],
  ['ioctl that types into a terminal', 16, 29, '0, 0x5412, 0', EPERM],
  ['socket of a virtual machine', 41, 198, '40, 1, 0', EAFNOSUPPORT],
  ['socket of the crypto interface', 41, 198, '38, 5, 0', EAFNOSUPPORT],
  ['socket of packets', 41, 198, '17, 3, 0', EAFNOSUPPORT],
]

atEveryEntrance((open) => {
  const at = keepOpen(() => open())

  test('the kernel refuses what would lead out of the sandbox (SB-06, SB-07, SB-16, SB-17, SB-18)', async () => {
    const { run } = at()
    const script = calls
      .map(
        ([, x64, arm64, rest]) =>
          `$! = 0; my $s = 'x' x 4096; $r = syscall(${[x64, arm64][numbers]}, ${rest}); print "$r ", $! + 0, "\\n";`,
      )
      .join(' ')
    const { text } = await run('perl', '-e', script)
    const answers = text.split('\n').filter((line) => /^-?\d+ \d+$/.test(line))
    expect(answers.map((answer, index) => `${calls[index]?.[0]}: ${answer}`)).toEqual(
      calls.map(([name, , , , error]) => `${name}: -1 ${error}`),
    )
  })

  test('programs that change namespaces or mounts, or look into others, fail (SB-06, SB-07, SB-16)', async () => {
    const { runLines } = at()
    const attempts = [
      'unshare -Ur id',
      'unshare -mpf true',
      'unshare -n true',
      'nsenter -t 1 -m true',
      'mount -t tmpfs x /tmp',
      'mount -o remount,rw /',
      'mount --bind /tmp /usr',
      'umount /proc',
      'chroot / true',
      'su -c id',
      'mknod n c 1 3',
      'setpriv --reuid=0 true',
    ]
    for (const { line, ok } of (await runLines(attempts)).ends)
      expect({ line, ok }).toEqual({ line, ok: false })
  })

  test('a command has no capability, no way to more, and is not root', async () => {
    const { run } = at()
    const { text } = await run('sh', '-c', 'cat /proc/self/status; id -u')
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(text).toMatch(new RegExp(`^${set}:\\s+0+$`, 'm'))
    expect(text).toMatch(/^NoNewPrivs:\s+1$/m)
    expect(text).toMatch(/^Seccomp:\s+2$/m)
    expect(text).toMatch(/^Uid:\s+[1-9]/m)
  })

  test.runIf(process.arch === 'x64')(
    'calls by the numbers of another processor end the program',
    async () => {
      const { run } = at()
      // getpid of the numbering of x32.
      const { ok, text } = await run('perl', '-e', 'syscall(0x40000000 + 39); print "still ", "here"')
      expect(ok).toBe(false)
      expect(text).not.toContain('still here')
    },
  )

  test('no server of the host can be reached, over no protocol (SB-13, SB-27, SB-29, SB-30)', async () => {
    let hits = 0
    const web = createHttpServer((_, answer) => {
      hits += 1
      answer.end('from the host')
    }).listen(0, '127.0.0.1')
    const local = createServer(() => (hits += 1)).listen({
      path: `\0handrail-${process.pid}-${Math.random()}`,
    })
    const datagrams = createSocket('udp4', () => (hits += 1)).bind(0, '127.0.0.1')
    onTestFinished(() => {
      web.close()
      local.close()
      datagrams.close()
    })
    await Promise.all([once(web, 'listening'), once(datagrams, 'listening')])
    const port = portOf(web.address())
    const udp = datagrams.address().port
    const { run } = at()
    const program = `
      const { connect } = require('node:net')
      const attempt = (name, options) => new Promise((done) => {
        const socket = connect(options)
        socket.on('connect', () => done(name + ' connected'))
        socket.on('error', (error) => done(name + ' ' + error.code))
      })
      const socket = require('node:dgram').createSocket('udp4')
      socket.on('error', () => {})
      const sent = new Promise((done) => socket.send('x', ${udp}, '127.0.0.1', (error) => done('udp ' + (error?.code ?? 'sent'))))
      Promise.all([
        attempt('tcp', { port: ${port}, host: '127.0.0.1' }),
        attempt('local', { path: ${JSON.stringify(local.address())} }),
        attempt('world', { port: 80, host: '1.1.1.1' }),
        attempt('metadata', { port: 80, host: '169.254.169.254' }),
        sent,
      ]).then((all) => { console.log(all.join('\\n')); process.exit() })`
    const { text } = await run('node', '-e', program)
    expect(text).toMatch(/^tcp ECONNREFUSED$/m)
    expect(text).toMatch(/^local ECONNREFUSED$/m)
    expect(text).toMatch(/^world ENETUNREACH$/m)
    expect(text).toMatch(/^metadata ENETUNREACH$/m)
    expect(
      await run('node', '-e', `fetch('http://127.0.0.1:${port}').then(() => process.exit(0))`),
    ).toMatchObject({
      ok: false,
    })
    expect(hits).toBe(0)
  })

  test('servers of a command can be reached by the command itself', async () => {
    const { run } = at()
    const program = `
      const server = require('node:http').createServer((_, answer) => answer.end('own')).listen(0, async () => {
        console.log(await (await fetch('http://localhost:' + server.address().port)).text())
        server.close()
      })`
    expect((await run('node', '-e', program)).text).toContain('own')
  })

  test('no input of a model leads around the sandbox (SB-25)', async () => {
    const { call } = at()
    for (const more of [
      { dangerouslyDisableSandbox: true },
      { dangerously_disable_sandbox: true },
      { sandbox: 'host' },
      { env: { LD_PRELOAD: 'x' } },
    ])
      expect(await call('code.run_command', { argv: ['true'], ...more })).toMatchObject({
        ok: false,
        reason: 'invalid_input',
      })
  })
})

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (typeof address !== 'object' || address === null) throw new Error('The server listens at no port.')
  return address.port
}
