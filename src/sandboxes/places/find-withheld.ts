import { relative } from 'node:path'
import type { CommandOutcome } from '../../contract/sandbox.ts'
import type { GuardedPlaces } from './guarded-places.ts'

/** What programs say of a place that they find read-only or cannot rename. */
const refused = /Device or resource busy|Read-only file system|Operation not permitted|EBUSY|EROFS/i

/** The protected paths that a command says it could not change, as seen from their roots: by itself it cannot know why. */
export function findWithheld(
  { stdout, stderr }: Pick<CommandOutcome, 'stdout' | 'stderr'>,
  { readOnly, pinned, present }: Pick<GuardedPlaces, 'readOnly' | 'pinned' | 'present'>,
): string[] {
  const said = [stdout.head, stdout.tail, stderr.head, stderr.tail].filter((text) => refused.test(text))
  if (said.length === 0) return []
  const lines = said.flatMap((text) => text.split('\n')).filter((line) => refused.test(line))
  const roots = [...present.keys()]
  const names = [...readOnly, ...pinned].flatMap((path) =>
    roots.map((root) => relative(root, path)).filter((name) => name !== '' && !name.startsWith('..')),
  )
  const found = names.filter((name) => lines.some((line) => isNamed(name, line)))
  // A folder is meant where nothing in it is.
  return found.filter((name) => !found.some((other) => other.startsWith(`${name}/`)))
}

function isNamed(name: string, line: string): boolean {
  const at = line.indexOf(name)
  const [before, after] = [line.charAt(at - 1), line.charAt(at + name.length)]
  return at >= 0 && !/[\w.-]/.test(before) && !/[\w.-]/.test(after)
}
