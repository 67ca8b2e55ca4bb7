import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { isInside } from '../../kit/match/is-inside.ts'

/** Named so that git itself says what is the matter with a file that it cannot add. */
const filter = 'sensitive-file-that-commands-find-empty'

/**
 * What git of a sandbox is told. A folder that has the files of a repository is none unless it is named as one (git 2.38 and later): else
 * `git status` in a folder that a call filled would run what the settings in there say. A hidden file, which is empty here, stays in the index as
 * it is; one that is not in there cannot be added.
 */
export const gitSettings = `[safe]
	bareRepository = explicit
[filter "${filter}"]
	clean = git cat-file blob :%f
	smudge = cat
	required = true
`

/** Attributes by which git knows the hidden files of these roots, as seen from the repositories that they lie in. Undefined if none does. */
export function gitAttributes(hiddenFiles: readonly string[], roots: readonly string[]): string | undefined {
  const tops = new Map<string, boolean>()
  const isTop = (folder: string): boolean => {
    if (!tops.has(folder)) tops.set(folder, existsSync(join(folder, '.git')))
    return tops.get(folder) === true
  }
  const lines = hiddenFiles.flatMap((path) =>
    foldersAbove(path, roots)
      .filter(isTop)
      .map((top) => `${quoted(`/${relative(top, path)}`)} filter=${filter}\n`),
  )
  return lines.length === 0 ? undefined : [...new Set(lines)].join('')
}

function foldersAbove(path: string, roots: readonly string[]): string[] {
  const root = roots.find((each) => isInside(path, each))
  const above: string[] = []
  if (root !== undefined && path !== root)
    for (let folder = dirname(path); isInside(folder, root); folder = dirname(folder)) {
      above.push(folder)
      if (folder === dirname(folder)) break
    }
  return above
}

/** A pattern of gitattributes(5) for this very path, in the quotes that git knows. */
function quoted(path: string): string {
  const pattern = path.replaceAll(/[\\*?[\]]/g, String.raw`\$&`)
  return `"${pattern
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`)}"`
}
