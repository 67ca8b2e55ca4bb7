import { hash } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { configurationPaths } from '../../config/load-configuration.ts'
import { lastStartPath } from '../../config/last-start.ts'
import { ownPath } from '../../config/gateway-parts.ts'
import { expandHome } from '../../compose/options/resolve-places.ts'
import { listToolFiles } from '../../declarative/read-tool-folder.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'
import type { Places } from './wire.ts'

/**
 * A digest of what `wireRuntime` makes a runtime of: the places, what each file says that a configuration can stand in, and
 * which file the store is. As long as it is the same, a runtime that was made before is as good as a new one.
 */
export function describeSetup(places: Places): string {
  const listed = listToolFiles(places.tools)
  const declared = 'paths' in listed ? listed.paths : []
  const files = [
    ...configurationPaths(places),
    ownPath(places.home, 'mcpServers'),
    lastStartPath(places.home),
    ...declared,
  ].map((path) => [path, readText(path)] as const)
  const stands = [places.home, places.project, places.store, places.keys].map(readIdentity)
  const named = files.flatMap(([, text]) => findPaths(text)).map(readTarget)
  return hash('sha256', JSON.stringify([places, listed, files, stands, named]))
}

/** The paths that the text of a file names in quotes. */
function findPaths(text: string): string[] {
  const said = Buffer.from(text, 'latin1').toString()
  return Array.from(said.matchAll(/"(~?\/[^"*?\\]*)"/g), ([, path = '']) => expandHome(path))
}

/** Where a path leads: one that is named in a configuration may lead elsewhere by now. */
function readTarget(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    return describeFileError(error)
  }
}

/** What a file says, byte by byte, or why it cannot be read. */
function readText(path: string): string {
  try {
    return `=${readFileSync(path, 'latin1')}`
  } catch (error) {
    return describeFileError(error)
  }
}

/** Another value for another file or folder at the same path. */
function readIdentity(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat && `${stat.dev}:${stat.ino}`
}
