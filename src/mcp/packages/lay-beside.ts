import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ProgramOwn } from '../../contract/services/sandbox.ts'
import type { Programs } from '../../contract/mcp/tool-feed.ts'
import type { ReadyPackage } from './open-packages.ts'
import { runStep } from './run-step.ts'

/** Whose copy it is, and where it lies. */
export interface Beside {
  readonly programs: Programs
  readonly tenant: string
  /** What the program makes beside its code stays here. */
  readonly kept: string
  readonly signal: AbortSignal
}

/** A larger package is not copied for each server. */
const maxBytes = 8 * 1024 * 1024
const maxEntries = 2_000

/** What the package brought is put back over what a program made of it; what it made beside that stays. */
const script = `
find "$2" -name node_modules -prune -exec rm -rf {} +
cp -Rf "$1"/. "$2"/`

/**
 * Lets a program write beside its code, as some keep their data there: a copy of the folder of its own package, for this server alone, lies over
 * the one that all share. The code itself is there anew at each start. Undefined if the package is too large for that.
 */
export async function layBeside(
  { program, folder }: ReadyPackage,
  { programs, tenant, kept, signal }: Beside,
): Promise<ProgramOwn['over']> {
  const at = findPackage(realpathSync(program), folder)
  if (at === undefined || !isSmall(at)) return undefined
  const { ok } = await runStep(
    programs,
    {
      tenant,
      argv: ['sh', '-c', script, 'sh', at, kept],
      cwd: kept,
      env: {},
      read: [],
      write: [],
      hosts: [],
      own: { home: kept, write: [], read: [folder], hosts: [] },
    },
    signal,
  )
  return ok ? [{ folder: kept, at }] : undefined
}

/** The folder of the package that a file belongs to. */
function findPackage(file: string, folder: string): string | undefined {
  const [, inside] =
    /^\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file.slice(realpathSync(folder).length)) ?? []
  return inside === undefined ? undefined : join(folder, 'node_modules', inside)
}

function isSmall(folder: string): boolean {
  let bytes = 0
  let entries = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (++entries > maxEntries) return false
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size
    if (bytes > maxBytes) return false
  }
  return true
}
