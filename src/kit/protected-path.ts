/** Files and folders that other programs of the person run or obey without asking, wherever they lie in a project. */
export const protectedNames: readonly string[] = [
  '.bash_login',
  '.bash_logout',
  '.bash_profile',
  '.bashrc',
  '.claude',
  '.cursor',
  '.envrc',
  '.gitconfig',
  '.gitmodules',
  '.idea',
  '.mcp.json',
  '.npmrc',
  '.pnpmfile.cjs',
  '.profile',
  '.ripgreprc',
  '.tool-versions',
  '.vscode',
  '.yarnrc',
  '.yarnrc.yml',
  '.zlogin',
  '.zprofile',
  '.zshenv',
  '.zshrc',
  'handrail.json',
]

/** What of a git folder decides which programs git runs, and where it looks for that. */
export const protectedInGit: readonly string[] = [
  'commondir',
  'config',
  'config.worktree',
  'hooks',
  'modules',
]

const protectedSet = new Set(protectedNames)
const gitSet = new Set(protectedInGit)

/**
 * Whether a path, relative to a root that may be written, leads to something that other programs run or obey. Letter case, letters
 * that show nothing and the short names of Windows do not count, since some file systems take them for the same.
 */
export function isProtected(path: string): boolean {
  const names = path.split(/[\\/]/).map(foldName)
  return names.some(
    (name, index) => protectedSet.has(name) || (isGit(name) && isProtectedInGit(names.slice(index + 1))),
  )
}

function isGit(name: string): boolean {
  return name === '.git' || name === 'git~1'
}

/** The folder itself, whose place a file could take, and what counts in it or in that of a worktree or submodule. */
function isProtectedInGit(below: readonly string[]): boolean {
  const [first] = below
  if (first === undefined) return true
  return (
    gitSet.has(first) ||
    (first === 'worktrees' && below.some((name) => gitSet.has(name) || name === 'gitdir'))
  )
}

function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/[. ]+$/, '')
    .replace(/:.*$/, '')
}
