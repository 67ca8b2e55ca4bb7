import { chmodSync, chownSync, existsSync, linkSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { makeFolder } from '../../support/project.ts'
import { gitAsOwner } from '../../support/repository.ts'
import { atEveryEntrance } from '../../support/sandbox-entrances.ts'

const canary = 'canary-of-the-host'

const files = {
  'sub/a': '',
  'a.txt': 'b\na\n',
  'hidden/.env': canary,
  'hidden/config/.env.production': canary,
  'hidden/deep/er/server.key': canary,
  'hidden/certificates/a.PEM': canary,
  'hidden/own/secret.txt': canary,
  'hidden/.gitignore': 'deep',
  'hidden/open.txt': 'open',
}

/** Variables of Handrail's own environment. */
const env = {
  SHOWN: 'shown',
  HOST_TOKEN: canary,
  LD_PRELOAD_PATH: canary,
  BASH_ENV: '/tmp/evil',
  GIT_SSH_COMMAND: canary,
  NODE_PATH: canary,
}

atEveryEntrance((open) => {
  const at = keepOpen(async () => {
    const [reading, writing] = [makeFolder({ 'a.txt': 'to read' }), makeFolder()]
    if (process.getuid?.() === 0) for (const folder of [reading, writing]) chmodSync(folder, 0o777)
    const roots = { readRoots: [reading], writeRoots: [writing] }
    const configuration = { env: ['SHOWN'], sensitivePaths: ['secret.txt'], ...roots }
    return { ...(await open({ files, configuration, env })), reading, writing }
  })

  test('a command writes nowhere but in its roots (SB-01, CM-21, CM-22)', async () => {
    const { project, run, runLines } = at()
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
    for (const { line, ok, text } of (await runLines(attempts)).ends) {
      expect({ line, ok }).toEqual({ line, ok: false })
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
    const { run, runLines } = at()
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
    for (const { line, ok, text } of (await runLines(attempts)).ends) {
      expect({ line, ok }).toEqual({ line, ok: false })
      expect(text).toMatch(/No such file|Permission denied|cannot open|Input\/output error/)
      expect(text).not.toContain(canary)
    }
    const list = await run('sh', '-c', 'ls -a /; cut -d: -f1 /etc/passwd; ls /proc | grep -c "^[0-9]"')
    expect(list.text).not.toMatch(/root|home|var/)
    expect(Number(list.text.trim().split('\n').at(-1))).toBeLessThan(8)
  })

  test('a program with the rights of its owner cannot be made (SB-08)', async () => {
    const { project, run, runLines } = at()
    const attempts = [
      'cp /bin/true s; chmod 4755 s',
      'cp /bin/true s; chmod u+s s',
      'cp /bin/true s; chmod g+s s',
      'install -m 4755 /bin/true s',
      'cp /bin/true s; perl -e \'chmod(06755, "s") or die\'',
      'perl -MFcntl -e \'sysopen(F, "s", O_CREAT|O_WRONLY, 04755) or die\'',
      'mkdir d; cp /bin/true d/s; chmod -R 6755 d',
    ]
    const { ends } = await runLines(
      attempts.map((attempt, index) => `mkdir try${index}; cd try${index}; ${attempt}`),
    )
    for (const [index, { line, ok }] of ends.entries()) {
      expect({ line, ok }).toEqual({ line, ok: false })
      const made = ['s', 'd/s'].map((name) => join(project, `try${index}`, name)).filter(existsSync)
      for (const { mode, uid } of made.map((path) => statSync(path)))
        expect({ line, bits: mode & 0o6000, root: uid === 0 }).toEqual({ line, bits: 0, root: false })
    }
    expect((await run('sh', '-c', 'cp /bin/true s; chmod 755 s; ./s')).ok).toBe(true)
  })

  test('a command has the variables of the allow-list and none of the host (CM-23, CM-37, CM-39)', async () => {
    const { run } = at()
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
    const { run } = at()
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
    const { project, call } = at()
    for (const cwd of ['/', '..', '/etc', `${project}/../..`, '/proc/self/root', '/tmp']) {
      const { ok, reason } = await call('code.run_command', { argv: ['pwd'], cwd })
      expect({ cwd, ok, reason }).toEqual({ cwd, ok: false, reason: 'path_outside_roots' })
    }
    const inside = await call('code.run_command', { argv: ['pwd'], cwd: 'sub' })
    expect(inside.text).toContain(`${project}/sub`)
  })

  test('a read-only root can be read and not written, and a writable one both', async () => {
    const { run, reading, writing } = at()
    expect((await run('cat', join(reading, 'a.txt'))).text).toContain('to read')
    expect((await run('sh', '-c', `echo x > ${reading}/b`)).text).toContain('Read-only file system')
    expect((await run('sh', '-c', `echo x > ${writing}/b && cat ${writing}/b`)).ok).toBe(true)
  })

  test('sensitive files in the roots have nothing in them for a command (FILE-8)', async () => {
    const { project, run, runLines } = at()
    const hidden = (lines: readonly string[]) => lines.map((line) => `cd hidden; ${line}`)
    const { text } = await run(
      'sh',
      '-c',
      'cd hidden; grep -r . . ; cat .env config/.env.production deep/er/server.key',
    )
    expect(text).toContain('open')
    expect(text).not.toContain(canary)
    const attempts = [
      'mv config moved; cat moved/.env.production',
      'mv .env e; cat e',
      'ln .env hard; cat hard',
      'cp -r deep copy; cat copy/er/server.key',
      'rm -f .env; cat .env',
    ]
    for (const attempt of attempts)
      expect((await run('sh', '-c', `cd hidden; ${attempt}`)).text).not.toContain(canary)
    const places = ['moved', 'config'].map((place) => `cat ${place}/.env.production`)
    for (const { line, text: shown } of (await runLines(hidden(places))).ends)
      expect([line, shown]).toEqual([line, expect.not.stringContaining(canary)])
    expect(readFileSync(join(project, 'hidden/.env'), 'utf8')).toBe(canary)
  })

  test('a command that asks for one, or stops at one, is told which is sensitive (FILE-8)', async () => {
    const { run } = at()
    const told = (name: string) => `"${name}" is sensitive: commands find it empty`
    for (const [name, ...argv] of [
      ['hidden/config/.env.production', 'mv', 'hidden/config', 'hidden/moved'],
      ['hidden/deep/er/server.key', 'rm', '-r', 'hidden/deep/er'],
      ['hidden/.env', 'cat', 'hidden/.env'],
      ['hidden/.env', 'sh', '-c', 'cp ./hidden/.env "$TMPDIR/x"'],
      ['hidden/.env', 'sh', '-c', 'cd hidden && node --env-file=.env -e ""'],
    ] as const) {
      const { text } = await run(...argv)
      expect([argv, text.split(told(name)).length]).toEqual([argv, 2])
      expect(text.split('is sensitive')).toHaveLength(2)
    }
    expect((await run('ls', '-aR', 'hidden')).text).not.toContain('sensitive:')
  })

  test('git neither stages nor commits a sensitive file as it is for commands (FILE-8)', async () => {
    const { project, run } = at()
    gitAsOwner(project, 'init', '-q', 'versioned')
    const top = join(project, 'versioned')
    const names = ['.env.example', 'a [b]"c*.pem']
    for (const name of [...names, '.env', 'a.txt']) {
      writeFileSync(join(top, name), `${name}\n`)
      chownSync(join(top, name), statSync(top).uid, statSync(top).gid)
    }
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
    gitAsOwner(top, 'add', '--', ...names, 'a.txt')
    gitAsOwner(top, ...author, 'commit', '-q', '-m', 'first')
    const git = `cd versioned; git ${author.join(' ')}`
    // What is sensitive is looked for anew a second after the last look.
    await vi.waitFor(async () => expect((await run('cat', 'versioned/.env')).text).not.toContain('.env\n'))
    expect(await run('sh', '-c', `${git} add -f .env`)).toMatchObject({ ok: false })
    expect(await run('sh', '-c', `echo more >> versioned/a.txt; ${git} commit -qam second`)).toMatchObject({
      ok: true,
    })
    expect(await run('sh', '-c', `${git} add -A`)).toMatchObject({ ok: false })
    expect(gitAsOwner(top, 'show', '--format=', '--name-only', 'HEAD')).toBe('a.txt\n')
    expect(gitAsOwner(top, 'diff', '--cached', '--name-only')).toBe('')
  })

  test('nor have they where a command closes the folder, or has another name for the file (FILE-8, FS-26)', async () => {
    const { project, run, runLines } = at()
    const shut = join(project, 'hidden/config')
    linkSync(join(project, 'hidden/.env'), join(project, 'notes.txt'))
    const other = await run('sh', '-c', 'cat notes.txt; echo ran')
    expect(other.text).toContain('ran')
    expect(other.text).not.toContain(canary)
    for (const mode of ['000', '111', '444']) {
      await run('chmod', mode, 'hidden/config')
      const lines = ['chmod 755 hidden/config; cat hidden/config/.env.production', 'cat hidden/config/.e*']
      const { ends } = await runLines(lines)
      expect([mode, JSON.stringify(ends)]).toEqual([mode, expect.not.stringContaining(canary)])
      chmodSync(shut, 0o755)
    }
    const { text } = await run('sh', '-c', 'cat hidden/open.txt; cat hidden/config/.e*')
    expect(text).toContain('open')
    expect(text).not.toContain(canary)
    expect(readFileSync(join(shut, '.env.production'), 'utf8')).toBe(canary)
  })

  test('programs that people use work in it: shells, pipes, node, npm, git, perl (FILE-7)', async () => {
    const { project, run } = at()
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
