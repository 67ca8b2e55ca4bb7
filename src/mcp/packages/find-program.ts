import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readJsonObject } from '../../kit/json/is-json-object.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { FetchFailed } from './fetch-failed.ts'
import type { PackageCommand } from './package-command.ts'
import { nameOfSpec } from './read-package-command.ts'

/** The program of a fetched package, as its fetcher would find it. Throws a `FetchFailed` where there is none. */
export function findProgram(folder: string, command: PackageCommand): string {
  const { specs, kind } = command
  const name =
    command.program ??
    (kind === 'npm' ? programOf(folder, nameOfSpec(specs[0] ?? '')) : nameOfSpec(specs[0] ?? ''))
  const path = join(folder, kind === 'npm' ? 'node_modules/.bin' : 'venv/bin', name)
  if (existsSync(path)) return path
  throw new FetchFailed(
    `There is no program "${name}" in ${specs.map((spec) => `"${spec}"`).join(', ')}. Correct "args" in mcp.json.`,
  )
}

/** Of several programs, the one that is called like its package without the scope. */
function programOf(folder: string, name: string): string {
  const path = join(folder, 'node_modules', name, 'package.json')
  const { bin } = readJsonObject(JSON.parse(readFileSync(path, 'utf8')))
  const names = isPlainObject(bin) ? Object.keys(bin) : []
  const [only = name] = names.length === 1 ? names : []
  // A name of a program has no scope, whatever its package says.
  return basename(only)
}
