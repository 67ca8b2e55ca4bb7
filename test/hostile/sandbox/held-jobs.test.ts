import {
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeTools, jobTools, resultText, type ToolResult } from 'handrail'
import { expect, test } from 'vitest'
import { atEnd, keepOpen } from '../../support/at-end.ts'
import { atEitherDoor, outputWith, startJob } from '../../support/job-doors.ts'
import { makeFolder } from '../../support/project.ts'
import { openProject } from '../../support/undo.ts'
import { fixtureTool, makeFixtureServer, openUpstreams, said } from '../../support/upstreams.ts'

const files = { 'a.txt': 'one\n', 'src/b.txt': 'b', 'src/deep/c.txt': 'c', '.npmrc': 'x=1' }

atEitherDoor((open) => {
  const shared = keepOpen(() => open({ files, configuration: { sandbox: { hold: 'always' } } }))
  const at = (path: string) => join(shared().place.project, path)
  const content = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : undefined)

  /** A job that says `up`, and goes on until it is stopped. */
  const start = async (line: string) => {
    const door = shared()
    const id = await startJob(door, 'bash', '-c', `${line}\necho up; exec sleep 600`)
    await outputWith(door, id, 'up\n')
    return { id, stop: async () => (await door.call('job.stop', { id })).text }
  }

  test('what a job writes lands while it runs, once it was quiet (FS-43)', async () => {
    const job = await start('mkdir -m 750 out; echo made > out/x; echo two >> a.txt; rm src/b.txt')
    await expect.poll(() => content('out/x')).toBe('made\n')
    expect(statSync(at('out')).mode & 0o777).toBe(0o750)
    await expect.poll(() => content('src/b.txt')).toBe(undefined)
    expect(content('a.txt')).toBe('one\ntwo\n')
    await job.stop()
  })

  test('what was not quiet when a job is stopped lands at its end, and it writes a path again and again (FS-43)', async () => {
    const job = await start(
      `wait_for() { until [ -e "$1" ]; do sleep 0.05; done; }
      echo 1 > again; (wait_for saw-1; echo 2 > again; wait_for saw-2; rm again; mkdir again; echo 3 > again/x) &`,
    )
    for (const [path, text] of [
      ['again', '1\n'],
      ['again', '2\n'],
      ['again/x', '3\n'],
    ] as const) {
      await expect
        .poll(() => (path === 'again' && statSync(at(path)).isDirectory() ? '' : content(path)))
        .toBe(text)
      writeFileSync(at(`saw-${text.trim()}`), '')
    }
    await job.stop()
    const restless = await start('(while :; do date +%N > restless; echo writes; done) &')
    await outputWith(shared(), restless.id, 'writes\n')
    await restless.stop()
    expect(content('restless')).toMatch(/^\d*\n?$/)
  })

  test('no protected name of a job is in force for a moment; the rest lands, and the job is told (FS-49)', async () => {
    const seen: string[] = []
    const watcher = watch(at(''), (_event, name) => void seen.push(String(name)))
    atEnd(() => watcher.close())
    const door = shared()
    const job = await start(
      'echo evil > .envrc; mkdir .vscode; echo {} > .vscode/tasks.json; git init -q .; echo evil > .git/hooks/pre-commit; mkdir -p pkg; echo x > pkg/.npmrc; echo fine > fine',
    )
    await expect.poll(() => content('fine')).toBe('fine\n')
    const { data } = await outputWith(door, job.id, '.vscode')
    expect(data['text']).toContain('did not land and is not in force')
    await job.stop()
    const { text } = await door.call('job.output', { id: job.id })
    for (const path of ['.envrc', '.vscode', 'pkg/.npmrc'])
      expect(text.split('\n').filter((line) => line.includes(`${path}" did not land`))).toHaveLength(2)
    for (const path of ['.envrc', '.vscode', '.git', 'pkg/.npmrc']) expect(existsSync(at(path))).toBe(false)
    expect(seen.filter((name) => /envrc|vscode|\.git/.test(name))).toEqual([])
  })

  test('a job sees what others change later, though it looked before, and so do its watchers (FS-43)', async () => {
    const door = shared()
    writeFileSync(at('src/edited'), 'old')
    writeFileSync(at('src/removed'), 'old')
    const script = `
      const { readFileSync, existsSync, watch } = require('node:fs')
      const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '-')
      const all = () => ['src/edited', 'src/made', 'src/removed', 'src/new/below'].map(read).join(' ')
      all()
      const seen = new Set()
      watch('src', (event, name) => (event === 'rename' || name === 'new') && !name.startsWith('.') && seen.add(name))
      let said = ''
      setInterval(() => {
        const now = all() + ' ' + [...seen].sort()
        if (now !== said) console.log(said = now)
      }, 20)
      console.log('up')`
    const id = await startJob(door, process.execPath, '-e', script)
    await outputWith(door, id, 'up\n')
    const edited = await door.call('code.write_file', {
      path: 'src/edited',
      content: 'by-a-tool',
      overwrite: true,
    })
    expect(edited.ok).toBe(true)
    writeFileSync(at('src/made'), 'made')
    rmSync(at('src/removed'))
    await door.call('code.write_file', { path: 'src/new/below', content: 'deep', create_dirs: true })
    await outputWith(door, id, 'by-a-tool made - deep edited,made,new,removed')
    writeFileSync(at('next'), 'in-its-place')
    renameSync(at('next'), at('src/edited'))
    await outputWith(door, id, 'in-its-place made - deep')
    rmSync(at('src/edited'))
    await outputWith(door, id, '- made - deep')
    await door.call('job.stop', { id })
    expect(content('src/edited')).toBe(undefined)
  })

  test('what another program changed while a job wrote it stays, and the job is told (TURN-7)', async () => {
    const door = shared()
    const job = await start(
      '(n=0; until [ -e quiet ]; do echo $((n = n + 1)) > both; [ $n = 1 ] && echo writes; done; echo of-the-job > both; echo done > done) &',
    )
    // Before the job has the file, the person's one is not the job's to write.
    await outputWith(shared(), job.id, 'writes\n')
    writeFileSync(at('both'), 'of the person')
    writeFileSync(at('quiet'), '')
    await expect.poll(() => content('done')).toBe('done\n')
    await outputWith(door, job.id, 'both" did not land')
    await job.stop()
    expect(content('both')).toBe('of the person')
  })

  test('a link that a job puts in the place of a folder leads nothing of others into the project (FS-49)', async () => {
    const secret = `secret-${Math.random()}`
    const outside = join(shared().place.user, 'outside')
    writeFileSync(outside, secret)
    const job = await start(
      `(while :; do mkdir -p swap; echo x > swap/outside; mv swap was; ln -s ${shared().place.user} swap; rm -rf was; rm swap; done) &\nsleep 1.5`,
    )
    await job.stop()
    const isFolder = existsSync(at('swap')) && lstatSync(at('swap')).isDirectory()
    expect(isFolder ? content('swap/outside') : undefined).not.toBe(secret)
    expect(readFileSync(outside, 'utf8')).toBe(secret)
  })
})

const jobOf = (result: ToolResult) => String(Object(result.data)['job'])

test('rules on paths hold for what a job writes, though commands are held back only for them; the rest is taken back by its call (FS-49, UNDO-1)', async () => {
  const { project, session } = await openProject(files, {
    sandbox: 'bubblewrap',
    tools: [codeTools(), jobTools()],
    policy: { rules: [{ effect: 'deny', tools: ['*'], resources: ['handrail:file:{project}/denied/**'] }] },
  })
  const argv = [
    'sh',
    '-c',
    'mkdir denied fine; echo x > denied/x; echo y > fine/y; echo two > a.txt; exec sleep 600',
  ]
  const id = jobOf(await session.call('code.run_command', { argv, background: true }))
  await expect.poll(() => existsSync(join(project, 'fine/y'))).toBe(true)
  expect(existsSync(join(project, 'denied/x'))).toBe(false)
  await session.call('job.stop', { id })
  const output = resultText(await session.call('job.output', { id }))
  expect(output).toContain('did not land')
  expect(existsSync(join(project, 'denied/x'))).toBe(false)
  const undone = await session.call('code.undo', {})
  expect(undone.error).toBeUndefined()
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\n')
  expect(existsSync(join(project, 'fine'))).toBe(false)
})

test('what an MCP server writes lands but for protected and sensitive names (MCP-1, FS-49)', async () => {
  const project = makeFolder(files)
  const seen: string[] = []
  const watcher = watch(project, (_event, name) => void seen.push(String(name)))
  atEnd(() => watcher.close())
  const server = makeFixtureServer([fixtureTool('reach')])
  const file = { ...server.file, write: [...(server.file.write ?? []), project] }
  const runtime = await openUpstreams(
    { it: file },
    { project, sandbox: { kind: 'bubblewrap', hold: 'always' } },
  )
  const session = runtime.session()
  for (const path of ['.envrc', '.env.local', 'fine']) {
    const input = { files: [], write: join(project, path), url: 'http://127.0.0.1:9' }
    expect(JSON.parse(said(await session.call('mcp.it.reach', input)))).toMatchObject({ written: 'yes' })
  }
  await expect.poll(() => existsSync(join(project, 'fine'))).toBe(true)
  await runtime.close()
  expect(['.envrc', '.env.local'].filter((path) => existsSync(join(project, path)))).toEqual([])
  expect(seen.filter((name) => name.startsWith('.env'))).toEqual([])
})

test('a layer that grows over its bound ends its command, and nothing of it is kept (FS-43)', async () => {
  const { project, session } = await openProject(files, {
    sandbox: { kind: 'bubblewrap', hold: 'always', layerBytes: 4_000_000 },
    tools: [codeTools(), jobTools()],
  })
  const argv = [
    'sh',
    '-c',
    'for i in 1 2 3 4 5 6; do head -c 1000000 /dev/urandom > big$i; done; exec sleep 600',
  ]
  const result = await session.call('code.run_command', { argv, timeout_ms: 300_000 })
  expect(result.error).toMatchObject({ reason: 'file_limit', message: expect.stringContaining('layerBytes') })
  expect(existsSync(join(project, 'big1'))).toBe(false)
})
