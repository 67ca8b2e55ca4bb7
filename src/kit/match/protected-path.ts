import { obeyedGroups, protectedGroups, protectedInside } from './protected-names.ts'

/** Names that no tool writes, wherever they lie in a project. */
export const protectedNames: readonly string[] = protectedGroups.flatMap(({ names }) => names)

/** A folder with a file of this name may be taken for a repository, whose settings git then obeys. */
const head = 'HEAD'

/** The name of the note that Handrail keeps in what git keeps of a worktree. */
export const worktreeNote = 'unsaved.json'

const ownNote = /(?:^|\/)\.git\/worktrees\/[A-Za-z0-9][\w.-]*\/unsaved\.json$/

const protectedSet = new Set(protectedNames)
const shortNames: ReadonlyMap<string, string> = new Map([
  ['git~1', '.git'],
  ['hg~1', '.hg'],
])
const obeyed = obeyedGroups.flatMap(({ why, names }) =>
  names.map((name) => ({ parts: name.split('/'), why })),
)

/**
 * Whether a path, relative to a root that may be written, leads to something that other programs run or obey. Letter case, letters
 * that show nothing and the short names of Windows do not count, since some file systems take them for the same. All in the folder of a version
 * control is its own, but for the note that Handrail keeps of a worktree.
 */
export function isProtected(path: string): boolean {
  return (!ownNote.test(path) && namesOf(path).some(isProtectedName)) || path.split(/[\\/]/).at(-1) === head
}

/** Whether a name is protected by itself, wherever it stands. */
export function isProtectedName(name: string): boolean {
  const folded = foldName(name)
  return protectedSet.has(folded) || Object.hasOwn(protectedInside, shortNames.get(folded) ?? folded)
}

/** Why programs obey what a path leads to, where it belongs to a project all the same; undefined if none does. */
export function whyObeyed(path: string): string | undefined {
  const names = namesOf(path)
  return obeyed.find(({ parts }) =>
    names.some((_, at) => parts.every((part, index) => names[at + index] === part)),
  )?.why
}

/**
 * What becomes of a change that a program made at a path, relative to a root that may be written. `refused`: what the programs of the person run
 * or obey at the top of the root. `asked`: the same deeper in it, what may be taken for a repository, and what the person's git goes on with: work in
 * progress, and remotes in files.
 */
export function fateOf(path: string): 'refused' | 'asked' | undefined {
  const [top = '', ...within] = namesOf(path)
  const [inner] = within
  const folder = shortNames.get(top) ?? top
  const inside = Object.hasOwn(protectedInside, folder) ? protectedInside[folder] : undefined
  if (inside === undefined) return isProtectedName(top) ? 'refused' : isProtected(path) ? 'asked' : undefined
  if (inner === undefined || inside.includes(inner)) return 'refused'
  if (ownNote.test(path)) return undefined
  if (within.some(isProtectedName)) return 'asked'
  if (within.at(-1) === head.toLowerCase() && !ownHead.test(within.join('/'))) return 'asked'
  return inner === 'worktrees' ? fateOfWorktree(within) : goneOnWith.has(inner) ? 'asked' : undefined
}

/** Whether a path, relative to a root that may be written, lies in the files of its repository: git writes through a link there, wherever that leads. */
export function isInRepository(path: string): boolean {
  const [top = '', ...within] = namesOf(path)
  return (shortNames.get(top) ?? top) === '.git' && within.length > 0
}

/** What git obeys of a worktree, beside what it only keeps of it. */
function fateOfWorktree([, , name]: readonly string[]): 'asked' | undefined {
  return name === 'commondir' || name === 'config.worktree' ? 'asked' : undefined
}

/** Where git itself keeps a file of that name. */
const ownHead = /^(?:worktrees\/[^/]+\/)?(?:head|logs\/(?:.*\/)?head|refs\/remotes\/.+\/head)$/

/** Work in progress, and where git of the person fetches from and pushes to if its settings do not say. */
const goneOnWith = new Set(['rebase-merge', 'rebase-apply', 'sequencer', 'remotes', 'branches'])

function namesOf(path: string): string[] {
  return path.split(/[\\/]/).map(foldName)
}

function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/[. ]+$/, '')
    .replace(/:.*$/, '')
}
