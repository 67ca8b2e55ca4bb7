import { posix } from 'node:path'
import type { CommandOutcome, Commands } from '../../contract/services/sandbox.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import type { HiddenPlaces } from '../visible/hidden-places.ts'
import { isNamed, readRefusals } from './read-refusals.ts'

/**
 * The hidden places, as seen from these roots, that a command asks for by their name, or that it says it could not move or remove, themselves
 * or a folder that holds them: by itself it cannot know that what it finds there is empty, nor why.
 */
export function findMet(
  outcome: Pick<CommandOutcome, 'stdout' | 'stderr'>,
  { files, folders }: HiddenPlaces,
  { roots, argv }: { roots: readonly string[] } & Pick<Parameters<Commands['run']>[0], 'argv'>,
): string[] {
  const refusals = readRefusals(outcome).join('\n')
  // As seen from the roots.
  const words = roots
    .reduce((text, root) => text.replaceAll(`${root}/`, ''), argv.join('\n'))
    .replaceAll(/(?<![\w.-])\.\//g, '')
  const names = [...files, ...folders].flatMap((path) => {
    const root = roots.find((each) => isInside(path, each))
    return root === undefined || path === root ? [] : [posix.relative(root, path)]
  })
  const asked = names.filter((name) => isNamed(name, words, { start: true }))
  // From inside a folder a file goes by less than its whole name.
  const meant = asked.length > 0 ? asked : names.filter((name) => isNamed(posix.basename(name), words))
  const kept =
    refusals === ''
      ? []
      : names.filter((name) => withFolders(name).some((each) => isNamed(each, refusals, { end: true })))
  return [...new Set([...meant, ...kept])]
}

/** A path, and the folders that lead to it. */
function withFolders(name: string): string[] {
  const above = posix.dirname(name)
  return above === '.' ? [name] : [name, ...withFolders(above)]
}
