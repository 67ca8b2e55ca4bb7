import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder } from '../support/project.ts'
import { atEveryEntrance } from '../support/sandbox-entrances.ts'

const canary = 'canary-of-the-host'

atEveryEntrance((open) => {
  test('a command writes nowhere but in its roots (SB-01, CM-21, CM-22)', async () => {
    const { project, run } = await open()
    const outside = makeFolder({ 'f.txt': canary })
    const attempts = [
      'echo x > /etc/x',
      'touch /usr/bin/x',
      'mkdir /new',
      'echo x > /dev/new',
      'echo x > /etc/passwd',
      `exec 3> ${outside}/f.txt; echo x >&3`,
      `exec 3>> ${outside}/f.txt; echo x >&3`,
      `cp /etc/hosts ${outside}/copied`,
      `ln -s ${outside} out && echo x > out/made`,
      'echo x > /proc/self/root/etc/x',
      'echo x > /proc/sys/kernel/hostname',
      'echo x > /proc/sys/vm/overcommit_memory',
      'echo 1 > /proc/sysrq-trigger',
      'echo x > /sys/fs/cgroup/cgroup.procs',
    ]
    for (const attempt of attempts) {
      const { ok, text } = await run('sh', '-c', attempt)
      expect({ attempt, ok }).toEqual({ attempt, ok: false })
      expect(text).toMatch(/Read-only file system|No such file|nonexistent|Permission denied/)
    }
    // The folder above may be the sandbox's own one for temporary files; the host's is never touched.
    await run('sh', '-c', `echo x > ../f-${basename(project)}; cd .. && echo x > g-${basename(project)}`)
    for (const name of ['f', 'g'])
      expect(existsSync(join(project, '..', `${name}-${basename(project)}`))).toBe(false)
    expect(readFileSync(join(outside, 'f.txt'), 'utf8')).toBe(canary)
    expect(existsSync(join(outside, 'made'))).toBe(false)
    expect(existsSync(join(outside, 'copied'))).toBe(false)
  })

  test('a command sees nothing of the machine but its programs and its roots (SB-02)', async () => {
    const { run } = await open()
    const outside = makeFolder({ 'f.txt': canary })
    const attempts = [
      'cat /etc/shadow',
      'cat /etc/gshadow /etc/ssh/*',
      'ls /root',
      'ls ~/.ssh',
      'ls /home',
      'ls /run',
      'ls /var',
      `cat ${outside}/f.txt`,
      `cat /proc/1/root${outside}/f.txt`,
      `ln -s ${outside} away && cat away/f.txt`,
      'ls /sys/class',
      'cat /proc/1/mem',
    ]
    for (const attempt of attempts) {
      const { ok, text } = await run('sh', '-c', attempt)
      expect({ attempt, ok }).toEqual({ attempt, ok: false })
      expect(text).toMatch(/No such file|Permission denied|cannot open|Input\/output error/)
      expect(text).not.toContain(canary)
    }
    const list = await run('sh', '-c', 'ls -a /; cut -d: -f1 /etc/passwd; ls /proc | grep -c "^[0-9]"')
    expect(list.text).not.toMatch(/root|home|var/)
    expect(Number(list.text.trim().split('\n').at(-1))).toBeLessThan(8)
  })

  test('a program with the rights of its owner cannot be made (SB-08)', async () => {
    const { project, run } = await open()
    const attempts = [
      'cp /bin/true s; chmod 4755 s',
      'cp /bin/true s; chmod u+s s',
      'cp /bin/true s; chmod g+s s',
      'install -m 4755 /bin/true s',
      'cp /bin/true s; perl -e \'chmod(06755, "s") or die\'',
      'perl -MFcntl -e \'sysopen(F, "s", O_CREAT|O_WRONLY, 04755) or die\'',
      'mkdir d; cp /bin/true d/s; chmod -R 6755 d',
    ]
    for (const attempt of attempts) {
      const { ok } = await run('sh', '-c', `rm -rf s d; ${attempt}`)
      expect({ attempt, ok }).toEqual({ attempt, ok: false })
      for (const path of ['s', 'd/s'].map((name) => join(project, name)).filter(existsSync)) {
        const { mode, uid } = statSync(path)
        expect({ attempt, bits: mode & 0o6000, root: uid === 0 }).toEqual({ attempt, bits: 0, root: false })
      }
    }
    expect((await run('sh', '-c', 'cp /bin/true s; chmod 755 s; ./s')).ok).toBe(true)
  })

  test('a command has the variables of the allow-list and none of the host (CM-23, CM-37, CM-39)', async () => {
    const { run } = await open({
      configuration: { env: ['SHOWN'] },
      env: {
        SHOWN: 'shown',
        HOST_TOKEN: canary,
        LD_PRELOAD_PATH: canary,
        BASH_ENV: '/tmp/evil',
        GIT_SSH_COMMAND: canary,
        NODE_PATH: canary,
      },
    })
    const { text } = await run('env')
    const names = [...text.matchAll(/^(\w+)=/gm)].map(([, name]) => name)
    expect(text).not.toContain(canary)
    expect(names).toContain('SHOWN')
    expect(
      names.filter(
        (name) =>
          !['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'PWD', 'OLDPWD', 'SHLVL', '_', 'SHOWN'].includes(
            name ?? '',
          ),
      ),
    ).toEqual([])
    const first = await run('sh', '-c', 'cat /proc/1/environ')
    expect(first.text).not.toContain(canary)
  })

  test('nothing of a command is left for the next one but what it wrote in its roots (CM-23)', async () => {
    const { run } = await open()
    await run(
      'sh',
      '-c',
      'export PAGER=evil; echo x > /tmp/left; echo x > ~/left; echo x > kept; sleep 100 &',
    )
    const { text } = await run(
      'sh',
      '-c',
      'echo "[$PAGER]"; ls /tmp ~ /dev/shm; cat kept; ls /proc | grep -c "^[0-9]"',
    )
    expect(text).toContain('[]')
    expect(text).not.toContain('left')
    expect(text).toContain('x')
  })

  test('a working directory never widens the roots (FS-51)', async () => {
    const { project, call } = await open({ files: { 'sub/a': '' } })
    for (const cwd of ['/', '..', '/etc', `${project}/../..`, '/proc/self/root', '/tmp']) {
      const { ok, reason } = await call('code.run_command', { argv: ['pwd'], cwd })
      expect({ cwd, ok, reason }).toEqual({ cwd, ok: false, reason: 'path_outside_roots' })
    }
    const inside = await call('code.run_command', { argv: ['pwd'], cwd: 'sub' })
    expect(inside.text).toContain(`${project}/sub`)
  })

  test('a read-only root can be read and not written, and a writable one both', async () => {
    const [reading, writing] = [makeFolder({ 'a.txt': 'to read' }), makeFolder()]
    if (process.getuid?.() === 0) for (const folder of [reading, writing]) openToAll(folder)
    const { run } = await open({ configuration: { readRoots: [reading], writeRoots: [writing] } })
    expect((await run('cat', join(reading, 'a.txt'))).text).toContain('to read')
    expect((await run('sh', '-c', `echo x > ${reading}/b`)).text).toContain('Read-only file system')
    expect((await run('sh', '-c', `echo x > ${writing}/b && cat ${writing}/b`)).ok).toBe(true)
  })

  test('sensitive files in the roots have nothing in them for a command (FILE-8)', async () => {
    const { project, run } = await open({
      files: {
        '.env': canary,
        'config/.env.production': canary,
        'deep/er/server.key': canary,
        'certificates/a.PEM': canary,
        'own/secret.txt': canary,
        '.gitignore': 'deep',
        'open.txt': 'open',
      },
      configuration: { sensitivePaths: ['secret.txt'] },
    })
    const { text } = await run('sh', '-c', 'grep -r . . ; cat .env config/.env.production deep/er/server.key')
    expect(text).toContain('open')
    expect(text).not.toContain(canary)
    const attempts = [
      'mv config moved; cat moved/.env.production',
      'mv .env e; cat e',
      'ln .env hard; cat hard',
      'cp -r deep copy; cat copy/er/server.key',
      'rm -f .env; cat .env',
    ]
    for (const attempt of attempts) expect((await run('sh', '-c', attempt)).text).not.toContain(canary)
    for (const place of ['moved', 'config'])
      expect((await run('sh', '-c', `cat ${place}/.env.production`)).text).not.toContain(canary)
    expect(readFileSync(join(project, '.env'), 'utf8')).toBe(canary)
  })

  test('programs that people use work in it: shells, pipes, node, npm, git, perl (FILE-7)', async () => {
    const { project, run } = await open({ files: { 'a.txt': 'b\na\n' } })
    const works = async (...argv: string[]) => {
      const { ok, text } = await run(...argv)
      expect({ argv, ok, text }).toMatchObject({ argv, ok: true })
      return text
    }
    expect(await works('sh', '-c', 'sort < a.txt | head -1 | tee c.txt; cat <<E\n$(id -u)\nE')).toContain('a')
    expect(
      await works(
        'node',
        '-e',
        'console.log(require("fs").readFileSync("a.txt", "utf8"), WebAssembly.validate(new Uint8Array(8)))',
      ),
    ).toContain('b')
    expect(
      await works('node', '-e', 'require("child_process").execSync("echo child", { stdio: "inherit" })'),
    ).toContain('child')
    expect(await works('npm', '--version')).toMatch(/\d+\.\d+/)
    expect(await works('perl', '-e', 'print getpwuid($<) ne "" ? "known" : "unknown"')).toContain('known')
    await works(
      'sh',
      '-c',
      'echo made > made.txt; mkdir -p x/y; mv made.txt x/y/; echo t > $TMPDIR/t; test -s $TMPDIR/t',
    )
    expect(readFileSync(join(project, 'x/y/made.txt'), 'utf8')).toBe('made\n')
    expect(await works('git', '--version')).toContain('git version')
  })
})

function openToAll(folder: string): void {
  chmodSync(folder, 0o777)
}
