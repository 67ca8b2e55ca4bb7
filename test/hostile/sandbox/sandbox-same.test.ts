import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { makeFolder } from '../../support/project.ts'
import { atOpenEntrances, type Entrance } from '../../support/sandbox-entrances.ts'

const canary = 'canary-of-the-host-4470\n'

/** Lines that must fail, `{OUT}` being a folder outside that everybody may write, and `{HOME}` that of the person. */
const probes: Readonly<Record<string, readonly string[]>> = {
  'SB-01': [
    'echo x > /etc/x',
    'echo x >> /etc/passwd',
    'touch /usr/bin/x',
    'touch /bin/x',
    'rm -f /usr/bin/env && test ! -e /usr/bin/env',
    'mkdir /x',
    'ln -s a /usr/x',
    'touch {OUT}/x',
    'echo x > {OUT}/canary.txt',
    'echo x > /dev/x',
    'touch /proc/x',
  ],
  'SB-02': [
    'cat /etc/shadow',
    'cat /etc/sudoers',
    'ls /root',
    'ls ~/.ssh',
    'cat {OUT}/canary.txt',
    'cat /proc/1/root{OUT}/canary.txt',
    'cat /proc/self/root{OUT}/canary.txt',
    'ls {HOME}/.handrail',
    'ls /home',
    'ls /var/log',
    'ls /run',
    'cat /proc/1/environ | tr "\\0" "\\n" | grep -q SECRET',
  ],
  'SB-06': [
    "unshare -mpf sh -c 'mount -t proc p /mnt && echo 0 > /mnt/sys/kernel/core_pattern'",
    'mount -t proc p /tmp',
    'mount -t sysfs s /tmp',
    'echo 0 > /proc/sys/kernel/core_pattern',
    'echo 1 > /proc/sys/vm/overcommit_memory',
    'echo x > /proc/sysrq-trigger',
    'head -c 1 /proc/kcore',
    'head -c 1 /dev/mem',
    'head -c 1 /dev/kmsg',
    'echo x > /dev/console',
    'echo x > /dev/tty',
  ],
  'SB-07': [
    'mount -o remount,rw /',
    'mount -o remount,rw /usr',
    'mount -o remount,bind,rw /etc',
    'mount --bind . /etc',
    'umount /usr',
    'umount -l /proc',
  ],
  'SB-08': [
    'cp /bin/true s && chmod 4755 s',
    'cp /bin/true t && chmod g+s t',
    'mknod n c 1 3',
    'mknod b b 8 0',
    'touch f && chown 0 f',
    'sudo -n true',
    'su -c true',
  ],
  'SB-16': [
    'unshare -Ur id',
    'unshare -n true',
    'unshare -m true',
    'unshare -p -f true',
    'nsenter -t 1 -m true',
    'chroot . true',
  ],
  'SB-23': [
    'echo $$ > /sys/fs/cgroup/cgroup.procs',
    'for f in /sys/fs/cgroup/*/cgroup.procs; do echo $$ > "$f" && exit 0; done; exit 1',
    'mkdir /sys/fs/cgroup/x',
    'echo max > /sys/fs/cgroup/pids.max',
    'echo -1000 > /proc/self/oom_score_adj',
    'ulimit -p unlimited',
    'nice -n -5 true && test "$(nice -n -5 nice)" -lt 0',
  ],
}

/** Lines that must work. */
const work = [
  'echo x > made && test -s made',
  'mkdir -p a/b && ln -s b a/link && mkfifo a/fifo',
  'echo x > /tmp/x && test -s /tmp/x',
  'echo x > /dev/null',
  'chmod 755 made && cp made copy && mv copy moved && rm moved',
  'sleep 0.01 & wait',
  'head -c 4 /dev/urandom | wc -c',
]

/** Every way to start a command, and what it printed. */
const ways: Readonly<Record<string, (at: Entrance, script: string) => Promise<string>>> = {
  'code.run_command': async ({ run }, script) => (await run('sh', '-c', script)).text,
  'code.run_shell': async ({ call }, script) => (await call('code.run_shell', { command: script })).text,
  'a job': async ({ call }, script) => {
    const { seen } = await call('code.run_command', { argv: ['sh', '-c', script], background: true })
    const id = /"job":"([^"]+)"/.exec(seen)?.[1]
    return await vi.waitFor(async () => {
      const { text } = await call('job.output', { id: id ?? '', wait_ms: 20_000 })
      expect(text).toContain('all tried')
      return text
    })
  },
}

atOpenEntrances({ configuration: { shell: true }, env: { SOME_SECRET: canary } }, (at) => {
  const place = keepOpen(() => {
    const away = makeFolder({ 'canary.txt': canary })
    for (const path of [away, join(away, 'canary.txt')]) chmodSync(path, 0o777)
    return { away, fill: (text: string) => text.replaceAll('{OUT}', away).replaceAll('{HOME}', at().home) }
  })

  test.each(Object.keys(ways))('SB-01 to SB-26 what %s starts is kept in, whoever asks', async (way) => {
    const { away, fill } = place()
    const lines = Object.entries(probes).flatMap(([id, each]) =>
      each.map((line, index) => `( ${fill(line)} ) >/dev/null 2>&1 && echo "through: ${id} ${index}"`),
    )
    const printed = await ways[way]?.(at(), [...lines, 'echo all tried'].join('\n'))
    expect(printed?.match(/^through: .*/gm) ?? []).toEqual([])
    expect(printed).toContain('all tried')
    expect([readdirSync(away), readFileSync(join(away, 'canary.txt'), 'utf8')]).toEqual([
      ['canary.txt'],
      canary,
    ])
    for (const path of ['/etc/x', '/usr/bin/x', '/usr/x', '/x'])
      expect([path, existsSync(path)]).toEqual([path, false])
  })

  test.each(Object.keys(ways))('what %s starts can work', async (way) => {
    const script = work.map((line, index) => `( ${line} ) >/dev/null 2>&1 || echo "fails: ${index}"`)
    const printed = await ways[way]?.(at(), ['rm -rf a made', ...script, 'echo all tried'].join('\n'))
    expect(printed?.match(/^fails: .*/gm) ?? []).toEqual([])
    expect(printed).toContain('all tried')
  })

  test('SB-25 no field of a call, and no second try, leads around the sandbox', async () => {
    const { call } = at()
    const fields = [
      'dangerouslyDisableSandbox',
      'dangerously_disable_sandbox',
      'sandbox',
      'unsandboxed',
      'user',
      'env',
    ]
    for (const field of fields)
      for (const [tool, input] of [
        ['code.run_command', { argv: ['true'] }],
        ['code.run_shell', { command: 'true' }],
      ] as const)
        for (const value of [true, 'host', { kind: 'host' }])
          expect(await call(tool, { ...input, [field]: value })).toMatchObject({
            ok: false,
            reason: 'invalid_input',
          })
    const script = place().fill('cat {OUT}/canary.txt')
    for (let attempt = 0; attempt < 3; attempt++)
      expect((await call('code.run_command', { argv: ['sh', '-c', script] })).ok).toBe(false)
  })
})
