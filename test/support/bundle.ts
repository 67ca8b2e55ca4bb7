import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { doors } from '../../scripts/doors.ts'

/** Where the main process of a test run, which this is loaded in, keeps the package as it is packed. */
export const bundleFolder = fileURLToPath(
  new URL(`../../node_modules/.handrail-${process.pid}/`, import.meta.url),
)

/** Where Node keeps what processes compile that tests start, of such a folder. */
export const compiledFolder = (folder: string): string => join(folder, 'compiled')

/** Files behind the doors that tests use as well. They are part of the bundle, so that there is one of each. */
const inside = [
  'compose/sources/mcp-tools.ts',
  'kit/result/call-error.ts',
  'kit/new-id.ts',
  'mcp/server/session/client-session.ts',
  'mcp/server/methods/mcp-server.ts',
  'mcp/server/http/serve-http.ts',
  'mcp/server/stdio/serve-stdio.ts',
  'mcp/server/tasks/client-tasks.ts',
]

const entryOf = (file: string): string => `inside/${basename(file, '.ts')}`

/** What the bundle of the tests has besides what the package has, with the source of each. */
export const insideEntries: Readonly<Record<string, string>> = Object.fromEntries(
  inside.map((file) => [entryOf(file), `src/${file}`]),
)

/** The file of the bundle in this folder that a file of `test/` or a program of a page means when it imports something, if it is one. */
export function findInBundle(folder: string, specifier: string): string | undefined {
  const door = doors.find(({ name }) => name === specifier)
  if (door !== undefined) return join(folder, 'dist', `${door.file}.js`)
  const [, source] = /^(?:\.\.\/)+src\/(.+)$/.exec(specifier) ?? []
  if (source === undefined) return undefined
  if (inside.includes(source)) return join(folder, 'dist', `${entryOf(source)}.js`)
  throw new Error(`test/support/bundle.ts does not name src/${source}, which a test imports.`)
}
