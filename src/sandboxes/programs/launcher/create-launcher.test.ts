import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createLauncher } from './create-launcher.ts'
import type { StartRequest } from './started.ts'
import { whenClosed } from './when-closed.ts'

const request: StartRequest = { executable: '/bin/cat', argv: ['cat'], cwd: '/', env: {} }

function openLauncher() {
  const launcher = createLauncher()
  onTestFinished(() => launcher.close())
  return launcher
}

/** For the rest of the test, the folder for temporary files. */
function useTemporary(path: string): void {
  vi.stubEnv('TMPDIR', path)
  onTestFinished(() => void vi.unstubAllEnvs())
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('a program reads what is written to it, file after file, and writes to its pipes', async () => {
  const launcher = openLauncher()
  const argv = ['sh', '-c', 'cat; cat <&4; echo piped >&3; echo err >&2; exit 7']
  const program = await launcher.start({
    ...request,
    executable: '/bin/sh',
    argv,
    env: { PATH: '/usr/bin:/bin' },
    input: true,
    descriptors: ['pipe', { file: '/proc/self/comm' }],
  })
  program.stdin?.end('x'.repeat(300_000))
  const [output, errors, piped] = await Promise.all(
    [program.stdout, program.stderr, ...program.pipes].map((stream) => textOf(stream)),
  )
  expect(output).toMatch(/^x{300000}\S.*\n$/)
  expect([errors, piped]).toEqual(['err\n', 'piped\n'])
  expect(await program.exited).toMatchObject({ exitCode: 7, signal: null, lost: false })
})

test('the error of the operating system is that of a direct start', async () => {
  const launcher = openLauncher()
  await expect(launcher.start({ ...request, executable: '/nothing/like/this' })).rejects.toMatchObject({
    code: 'ENOENT',
  })
  await expect(launcher.start({ ...request, argv: ['cat', 'a\0b'] })).rejects.toMatchObject({
    code: 'ERR_INVALID_ARG_VALUE',
  })
  await expect(
    launcher.start({ ...request, descriptors: [{ file: '/nothing/like/this' }] }),
  ).rejects.toMatchObject({ code: 'ENOENT' })
})

test('the folder for temporary files may have a long path, and nothing is left in it while programs run', async () => {
  const folder = join(makeFolder(), 'long'.repeat(40))
  mkdirSync(folder)
  useTemporary(folder)
  const launcher = createLauncher()
  const program = await launcher.start(request)
  expect(readdirSync(folder)).toEqual([])
  program.stdout.resume()
  program.stderr.resume()
  expect(await whenClosed(program)).toMatchObject({ exitCode: 0 })
  await launcher.close()
})

test('without a folder for temporary files it says so, and starts programs once there is one', async () => {
  const launcher = openLauncher()
  useTemporary('/nothing/like/this')
  await expect(launcher.start(request)).rejects.toMatchObject({
    code: 'SANDBOX.UNAVAILABLE',
    message: expect.stringContaining('TMPDIR'),
  })
  vi.unstubAllEnvs()
  expect((await launcher.start(request)).pid).toBeGreaterThan(0)
})
