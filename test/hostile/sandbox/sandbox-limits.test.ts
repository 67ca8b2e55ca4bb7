import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { atEveryEntrance } from '../../support/sandbox-entrances.ts'
import { findProcesses } from '../../support/processes.ts'

const mebibyte = 1024 * 1024

const sandbox = {
  processes: 40,
  memoryBytes: 512 * mebibyte,
  fileBytes: 2 * mebibyte,
  tmpBytes: 4 * mebibyte,
}

atEveryEntrance((open) => {
  const at = keepOpen(() => open({ configuration: { sandbox } }))

  test('a fork bomb stops at the bound on processes, and is gone with its command (PR-07)', async () => {
    const mark = `bomb-${Math.random()}`
    const { run } = at()
    const program = `
      my $made = 0;
      while ($made < 500) { my $pid = fork(); last unless defined $pid; if (!$pid) { sleep 60; exit } $made++ }
      print "made $made\\n";`
    const { text } = await run('perl', '-e', program, mark)
    const made = Number(/made (\d+)/.exec(text)?.[1])
    expect(made).toBeGreaterThan(20)
    expect(made).toBeLessThan(40)
    expect(findProcesses(mark)).toEqual([])
    const bomb = await run('bash', '-c', ': "$0"; f() { f | f & }; f; sleep 0.3; echo over', mark)
    expect(bomb.text).toContain('over')
    expect(findProcesses(mark)).toEqual([])
  })

  test('memory ends at its bound for native programs, and node and WebAssembly still start', async () => {
    const { run } = at()
    const hog = await run('perl', '-e', '$a = "x" x (1 << 30); print "got it"')
    expect(hog.ok).toBe(false)
    expect(hog.text).not.toContain('\ngot it')
    // No bound of a process counts what it shares, and each of many may stay below its own.
    const [mmap, read] = process.arch === 'arm64' ? [222, 63] : [9, 0]
    const shared = await run(
      'perl',
      '-e',
      `$a = syscall(${mmap}, 0, 1 << 30, 3, 0x21, -1, 0); open Z, "</dev/zero"; syscall(${read}, fileno Z, $a, 1 << 30); sleep 60; print "got ", "it"`,
    )
    expect({ ok: shared.ok, text: shared.text }).toMatchObject({ ok: false })
    expect(shared.text).not.toContain('got it')
    // By whichever thread they were started.
    const hogs =
      'for (1 .. 6) { if (!fork()) { $a = "x" x ($$ ? 2e8 : 0); sleep 60; exit } } 1 while wait() > 0;'
    for (const start of [hogs, `use threads; threads->create(sub { ${hogs} })->join();`]) {
      const many = await run('perl', '-e', `${start} print "got ", "it"`)
      expect(many.ok).toBe(false)
      expect(many.text).not.toContain('got it')
    }
    const growing = await run('node', '-e', 'const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))')
    expect(growing.ok).toBe(false)
    const small = 'new WebAssembly.Memory({ initial: 10, maximum: 1000 }); console.log("started")'
    expect((await run('node', '-e', small)).text).toContain('started')
  })

  test('a file ends at the bound on its size, and /tmp and /dev/shm at theirs (SB-15)', async () => {
    const { project, run, runLines } = at()
    expect((await run('sh', '-c', 'head -c 8000000 /dev/zero > large')).ok).toBe(false)
    expect(statSync(join(project, 'large')).size).toBe(2 * mebibyte)
    const fills = ['/tmp', '/dev/shm'].map(
      (folder) => `for i in 1 2 3 4; do head -c 1500000 /dev/zero > ${folder}/$i || exit 1; done`,
    )
    const { ends } = await runLines([...fills, 'head -c 1500000 /dev/zero > /dev/made'])
    expect(ends.map(({ ok }) => ok)).toEqual([false, false, false])
    for (const { line, text } of ends.slice(0, 2))
      expect([line, text]).toEqual([line, expect.stringContaining('No space left on device')])
  })

  test('CPU time ends at its bound (PR-10), and a program that ignores its end at the time limit (PR-03)', async () => {
    const { run, call } = await open({ configuration: { sandbox: { cpuSeconds: 1 } } })
    const spinning = await run('sh', '-c', 'while :; do :; done')
    expect(spinning.ok).toBe(false)
    expect(spinning.text).toMatch(/SIGKILL|SIGXCPU/)
    const mark = `deaf-${Math.random()}`
    const deaf = await call('code.run_command', {
      argv: ['sh', '-c', 'trap "" TERM INT HUP; : "$0"; sleep 60 & while :; do sleep 1; done', mark],
      timeout_ms: 700,
    })
    expect(deaf.code).toBe('TOOL.TIMEOUT')
    expect(findProcesses(mark)).toEqual([])
  })

  test('no process can raise a bound again', async () => {
    const attempts = [
      'ulimit -p unlimited',
      'ulimit -d unlimited',
      'ulimit -f unlimited',
      'prlimit --nproc=100000 true',
    ]
    for (const { line, ok } of (await at().runLines(attempts)).ends)
      expect({ line, ok }).toEqual({ line, ok: false })
  })
})
