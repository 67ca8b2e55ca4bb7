import { posix } from 'node:path'
import type { CommandOutcome, Commands } from '../../contract/sandbox.ts'
import { nameIn, type GuardedPlaces } from './guarded-places.ts'

/** What programs say of a place that they find read-only or cannot rename. */
const refused = /Device or resource busy|Read-only file system|Operation not permitted|EBUSY|EROFS/i

/**
 * The protected paths that a command says it could not change, as seen from their roots: by itself it cannot know why. Where a line says it from
 * inside of such a place, without its name, those count that the command names, or in which it was started.
 */
export function findWithheld(
  outcome: Pick<CommandOutcome, 'stdout' | 'stderr'>,
  guarded: GuardedPlaces,
  { argv, cwd }: Pick<Parameters<Commands['run']>[0], 'argv' | 'cwd'>,
): string[] {
  const lines = refusedLines(outcome)
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

/** The lines in which a program says that something could not be changed. */
function refusedLines({ stdout, stderr }: Pick<CommandOutcome, 'stdout' | 'stderr'>): string[] {
  return [stdout.head, stdout.tail, stderr.head, stderr.tail]
    .filter((text) => refused.test(text))
    .flatMap((text) => text.split('\n'))
    .filter((line) => refused.test(line))
}

function isNamed(name: string, line: string): boolean {
  const at = line.indexOf(name)
  const [before, after] = [line.charAt(at - 1), line.charAt(at + name.length)]
  return at >= 0 && !/[\w.-]/.test(before) && !/[\w.-]/.test(after)
}

/** Whether a line names something in a folder as seen from the one above it: `hooks/pre-commit` in `.git`. */
function isEntered(name: string, line: string): boolean {
  const at = line.indexOf(`${posix.basename(name)}/`)
  return name.includes('/') && at >= 0 && /^$|[\s'"‘]/.test(line.charAt(at - 1))
}
