import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { isGone } from '../programs/launcher/is-gone.ts'
import { startDirectly } from '../programs/launcher/start-directly.ts'
import { firstProcess } from './first-process.ts'

const wide = { fileBytes: 1024 * 1024 * 1024, cpuSeconds: undefined }

/** The first process and what it becomes, without a sandbox around it, as on a system where none holds processes. */
async function start(bounds: Parameters<typeof firstProcess>[0], ...argv: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [executable = '', ...rest] = [...firstProcess(bounds, true), ...argv]
  const started = await startDirectly({
    executable,
    argv: [executable, ...rest],
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
    descriptors: ['pipe'],
  })
  onTestFinished(() => {
    started.release()
  })
  return { started, folder }
}

/** What it says at its descriptor before it becomes the program. */
function saying(started: Awaited<ReturnType<typeof startDirectly>>): Promise<string> {
  return new Promise((resolve) => {
    started.pipes[0]?.once('data', (chunk: Buffer) => resolve(chunk.toString()))
  })
}

test('it says that it runs, and becomes the program, whose arguments no shell reads (FILE-7)', async () => {
  const { started } = await start(
    wide,
    'sh',
    '-c',
    'printf "%s|" "$@"; exit 3',
    'sh',
    "it's",
    '$(id)',
    '',
    '"',
  )
  let said = ''
  started.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  expect(await saying(started)).toBe('began\n')
  expect(await started.exited).toMatchObject({ exitCode: 3 })
  await vi.waitFor(() => expect(said).toBe(`it's|$(id)||"|`))
})

test('when the other end closes, as at the death of Handrail, the whole group ends (FILE-7)', async () => {
  const { started, folder } = await start(
    wide,
    'sh',
    '-c',
    'trap "" TERM HUP; sleep 300 & echo $! > child; wait; sleep 300',
  )
  await saying(started)
  const child = await vi.waitFor(() => {
    const pid = Number(readFileSync(join(folder, 'child'), 'utf8'))
    expect(pid).toBeGreaterThan(0)
    return pid
  })
  started.pipes[0]?.destroy()
  expect(await started.exited).toMatchObject({ signal: 'SIGKILL' })
  expect(await isGone(child, 5_000)).toBe(true)
})

test('a file ends at its bound', async () => {
  const { started, folder } = await start(
    { ...wide, fileBytes: 4096 },
    'sh',
    '-c',
    'head -c 100000 /dev/zero > big',
  )
  await started.exited
  expect(statSync(join(folder, 'big')).size).toBe(4096)
})
