import { posix } from 'node:path'
import type { CommandOutcome, Commands } from '../../contract/services/sandbox.ts'
import { nameIn, type GuardedPlaces } from '../visible/guarded-places.ts'
import { isNamed, readRefusals } from './read-refusals.ts'

/**
 * The protected paths that a command says it could not change, as seen from their roots: by itself it cannot know why. Where a line says it from
 * inside of such a place, without its name, those count that the command names, or in which it was started.
 */
export function findWithheld(
  outcome: Pick<CommandOutcome, 'stdout' | 'stderr'>,
  guarded: GuardedPlaces,
  { argv, cwd }: Pick<Parameters<Commands['run']>[0], 'argv' | 'cwd'>,
): string[] {
  const lines = readRefusals(outcome)
  if (lines.length === 0) return []
  const names = [...guarded.readOnly, ...guarded.pinned].map((path) => nameIn(guarded, path))
  const said = names.filter((name) => lines.some((line) => isNamed(name, line) || isEntered(name, line)))
  const isElsewhere = said.length > 0 || lines.every((line) => /(?:^|[\s'"‘])\//.test(line))
  const found = isElsewhere
    ? said
    : names.filter((name) => [...argv, cwd].some((word) => isNamed(name, word)))
  // A folder is meant where nothing in it is.
  return found.filter((name) => !found.some((other) => other.startsWith(`${name}/`)))
}

/** Whether a line names something in a folder as seen from the one above it: `hooks/pre-commit` in `.git`. */
function isEntered(name: string, line: string): boolean {
  const at = line.indexOf(`${posix.basename(name)}/`)
  return name.includes('/') && at >= 0 && /^$|[\s'"‘]/.test(line.charAt(at - 1))
}
