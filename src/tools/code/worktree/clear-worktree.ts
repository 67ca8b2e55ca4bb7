import { join } from 'node:path'
import type { Files } from '../../../contract/services/sandbox.ts'
import { findGit, gitArgv, runGit } from './git.ts'
import { findUnsavedWork, lookCommands, type GitContext } from './unsaved-work.ts'
import { branchOf, findWorktree, hasBranch, readKnown, worktreesFolder, type Worktree } from './worktree.ts'

/** A worktree that is not needed any more. */
export interface Unneeded {
  readonly id: string
  /**
   * `new`: none but git has written in it, so that all goes. `clearing`: it was found to be without work and its removal was cut off, so that a
   * missing file is not a change.
   */
  readonly state: 'new' | 'used' | 'clearing'
  /** Called before it is removed, if no work was found in it. */
  clearing(): Promise<void>
}

type Context = GitContext & { readonly project: string }
type Git = (words: readonly string[], more?: Parameters<typeof runGit>[2]) => Promise<string>

/**
 * Removes a worktree with the branch that was made for it, unless something would be lost: changed, untracked or ignored files, commits that only its
 * branch leads to. `gone`: there was none.
 */
export async function clearWorktree(
  context: Context,
  unneeded: Unneeded,
): Promise<'removed' | 'kept' | 'gone'> {
  const { files, project } = context
  const { id, state } = unneeded
  const path = join(project, worktreesFolder, id)
  const repository = join(project, '.git')
  if ((await files.stat(repository))?.kind !== 'directory') return 'gone'
  const executable = await findGit(context)
  const git: Git = (words, more) => {
    const argv = gitArgv({ gitDir: repository, workTree: project }, words)
    return runGit(context, { executable, argv, cwd: project }, more)
  }
  const branch = branchOf(id)
  const isThere = async () => (await files.stat(path)) !== undefined
  const cut = { id, path, git }
  if (state === 'new') return (await removeCut(context, cut)) ? 'removed' : 'kept'
  const whole = await findWorktree(files, project, id)
  const worktree = whole ?? (state === 'clearing' ? await findCut(files, project, id) : undefined)
  if (worktree === undefined) {
    if (await isThere()) return 'kept'
    if (state === 'clearing') return (await removeCut(context, cut)) ? 'removed' : 'kept'
    const spare = await commitToSpare(branch, git, context)
    if (spare !== undefined) await removeBranch(branch, spare, git)
    return 'gone'
  }
  if (worktree.branch !== branch) return 'kept'
  const look = lookCommands(executable, worktree)
  const { items, missing, settings } = await findUnsavedWork(context, worktree, look)
  const isChanged = items.length > (state === 'clearing' ? missing : 0)
  const spare = await commitToSpare(branch, git, context)
  if (isChanged || spare === undefined) return 'kept'
  await unneeded.clearing()
  if (state === 'clearing') return (await removeCut(context, cut)) ? 'removed' : 'kept'
  await git(['worktree', 'remove', '--', worktree.path], { settings })
  await removeBranch(branch, spare, git)
  return 'removed'
}

/** Removes what git was making or removing, however far it came. Returns whether nothing is left. */
async function removeCut(
  context: Context,
  { id, path, git }: Pick<Worktree, 'id' | 'path'> & { git: Git },
): Promise<boolean> {
  const { files, project } = context
  const branch = branchOf(id)
  const known = join(project, '.git', 'worktrees', id)
  const link = join(path, '.git')
  const isThere = async (at: string) => (await files.stat(at)) !== undefined
  const isEmpty = async (at: string) => ((await files.stat(at))?.size ?? 0) === 0
  // Git removes only what it finds whole, and only git may write there.
  const own = { commondir: '../..', gitdir: link, HEAD: `ref: refs/heads/${branch}` }
  if (await isThere(known))
    for (const [name, content] of Object.entries(own))
      if (await isEmpty(join(known, name))) await writeByGit(git, join(known, name), content)
  if ((await isThere(path)) && (await isEmpty(link)))
    await git(['worktree', 'repair', '--', path], { fine: 1 })
  // Twice, as git locks one that it is making.
  if ((await isThere(path)) || (await isThere(known)))
    await git(['worktree', 'remove', '--force', '--force', '--', path], { fine: 128 })
  const spare = (await isThere(path)) ? undefined : await commitToSpare(branch, git, context)
  if (spare !== undefined) await removeBranch(branch, spare, git)
  return !(await isThere(path))
}

async function writeByGit(git: Git, path: string, content: string): Promise<void> {
  const format = content.replaceAll('%', '%%')
  await git(['log', '--max-count=1', `--format=tformat:${format}`, `--output=${path}`, 'HEAD'])
}

/** A worktree whose removal took the file that leads to its repository, and not yet the folder; undefined if that is not how it is. */
async function findCut(files: Files, project: string, id: string): Promise<Worktree | undefined> {
  const path = join(project, worktreesFolder, id)
  const gitDir = join(project, '.git', 'worktrees', id)
  if ((await files.stat(path))?.kind !== 'directory') return undefined
  if ((await files.stat(join(path, '.git'))) !== undefined) return undefined
  return await readKnown(files, { id, path, gitDir })
}

/** The commit of a branch, if something else leads to that too; undefined if only the branch does, or if the branch is gone. */
async function commitToSpare(
  branch: string,
  git: Git,
  { files, project }: Context,
): Promise<string | undefined> {
  if (!(await hasBranch(files, join(project, '.git'), branch))) return undefined
  const commit = (await git(['rev-parse', '--verify', `refs/heads/${branch}`])).trim()
  const others = ['--not', `--exclude=${branch}`, '--branches', '--tags', '--remotes', 'HEAD']
  const own = await git(['rev-list', '--max-count=1', commit, ...others])
  return own.trim() === '' ? commit : undefined
}

/** Only as it was looked at: with another commit by now it stays. */
async function removeBranch(branch: string, commit: string, git: Git): Promise<void> {
  await git(['update-ref', '-d', `refs/heads/${branch}`, commit])
}
