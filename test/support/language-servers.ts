import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Configuration } from 'handrail'
import { packageRoot } from './command-line.ts'

const modules = join(packageRoot, 'node_modules')

/** A configuration with the real server for TypeScript, which is installed for tests. */
export const realServer: Configuration = {
  // What the server consists of has to be there for it, and lies outside of any test's project.
  readRoots: [modules],
  languageServers: {
    typescript: {
      command: [join(modules, '.bin', 'typescript-language-server'), '--stdio'],
      initializationOptions: { tsserver: { path: join(modules, 'typescript-6', 'lib', 'tsserver.js') } },
      timeoutMs: 60_000,
    },
  },
}

/** A server for `.fake` files that behaves in this manner. Its program is one of the project's files, with `fakeFiles`. */
export function fakeServer(manner: string, { timeoutMs = 30_000, mark = '' } = {}): Configuration {
  const command = ['node', fakeProgram, manner, mark]
  return {
    languageServers: {
      fake: { command, extensions: ['.fake'], timeoutMs, settings: { a: { b: 'told' } } },
    },
  }
}

const fakeProgram = 'fake-server.mjs'

/** A project for a fake server. */
export const fakeFiles: Readonly<Record<string, string>> = {
  [fakeProgram]: readFileSync(join(import.meta.dirname, 'fake-language-server.mjs'), 'utf8'),
  'a.fake': 'function first() {\n  second()\n}\n',
  '.env': 'TOKEN=1\n',
}
