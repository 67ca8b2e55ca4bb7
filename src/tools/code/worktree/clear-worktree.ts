import { join } from 'node:path'
import { findGit, gitArgv, runGit } from './git.ts'
import { findUnsavedWork, lookCommands, type GitContext } from './unsaved-work.ts'
import { branchOf, findWorktree, hasBranch, worktreesFolder } from './worktree.ts'

/**
 * Removes a worktree with the branch that was made for it, unless something would be lost: changed, untracked or ignored files, commits that only its
 * branch leads to. `unused` removes the files in any case, since none but git wrote any. `gone`: there was none.
 */
export async function clearWorktree(
  context: GitContext & { readonly project: string },
  { id, unused }: { id: string; unused: boolean },
): Promise<'removed' | 'kept' | 'gone'> {
  const { files, project } = context
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
  if (unused) {
    const known = (await files.stat(join(repository, 'worktrees', id))) !== undefined
    if (!known && !(await isThere())) return 'gone'
    // Twice, as git locks one that it is making. What it does not know stays, and is told.
    await git(['worktree', 'remove', '--force', '--force', '--', path], { fine: 128 })
    if (await isThere()) return 'kept'
    const spare = await commitToSpare(branch, git, context)
    if (spare !== undefined) await removeBranch(branch, spare, git)
    return 'removed'
  }
  const worktree = await findWorktree(files, project, id)
  if (worktree === undefined) return (await isThere()) ? 'kept' : 'gone'
  if (worktree.branch !== branch) return 'kept'
  const { items, settings } = await findUnsavedWork(context, worktree, lookCommands(executable, worktree))
  const spare = await commitToSpare(branch, git, context)
  if (items.length > 0 || spare === undefined) return 'kept'
  await git(['worktree', 'remove', '--', path], { settings })
  await removeBranch(branch, spare, git)
  return 'removed'
}

type Git = (words: readonly string[], more?: Parameters<typeof runGit>[2]) => Promise<string>

/** The commit of a branch, if something else leads to that too; undefined if only the branch does, or if the branch is gone. */
async function commitToSpare(
  branch: string,
  git: Git,
  { files, project }: GitContext & { readonly project: string },
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
