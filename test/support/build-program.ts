import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'rolldown'
import type { TestProject } from 'vitest/node'
import { bundleInto } from '../../scripts/bundle.ts'
import { bundleFolder, compiledFolder, insideEntries } from './bundle.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The command line as it is packed, made of the sources of now. */
    program: string
    /** What Node is started with so that a script imports the package as it is packed. */
    onBundle: string
    /** Where the programs lie that tests start often, as JavaScript. */
    programs: string
  }
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Node takes longer to read the types of one of these than to start. */
const programs = ['asking-server', 'fixture-server', 'run-commands', 'use-bundle']

/** Makes the package that tests use and the command line that they start: as it is packed, so that each costs what it costs a person. */
export default async function buildProgram({ provide }: TestProject): Promise<() => Promise<void>> {
  // Tests start it as other users too.
  mkdirSync(bundleFolder, { recursive: true, mode: 0o755 })
  await bundleInto(join(bundleFolder, 'dist'), insideEntries)
  for (const name of ['bin', 'package.json'])
    cpSync(join(root, name), join(bundleFolder, name), { recursive: true })
  const folder = join(bundleFolder, 'programs')
  await build({
    input: programs.map((name) => join(import.meta.dirname, `${name}.ts`)),
    platform: 'node',
    output: { dir: folder, entryFileNames: '[name].mjs' },
    logLevel: 'warn',
  })
  const program = join(bundleFolder, 'bin', 'handrail.cjs')
  provide('program', program)
  provide('programs', folder)
  provide('onBundle', `--import=${pathToFileURL(join(folder, 'use-bundle.mjs')).href}`)
  // Processes that a test starts find there what earlier ones compiled.
  process.env['NODE_COMPILE_CACHE'] = compiledFolder(bundleFolder)
  const compiled = compileServer(program)
  return async () => {
    await compiled
    rmSync(bundleFolder, { recursive: true, force: true })
  }
}

/** A server keeps what was compiled when it is stopped, and tests mostly kill theirs. */
async function compileServer(program: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  const server = spawn(process.execPath, [program, 'serve', '--port', '0'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(server, 'exit')
  let said = ''
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (said.includes('Ctrl-C stops.')) server.kill('SIGTERM')
  })
  await ended
  rmSync(folder, { recursive: true })
}
