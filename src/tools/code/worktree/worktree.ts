import { join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Files } from '../../../contract/services/sandbox.ts'
import { isProtected } from '../../../kit/match/protected-path.ts'
import { invalidInput } from '../base/invalid-input.ts'

/** A worktree of the project's repository, below the project. */
export interface Worktree {
  id: string
  /** Absolute path. */
  path: string
  /** The folder that git keeps for it, inside the repository. */
  gitDir: string
  /** Undefined if no branch is checked out. */
  branch: string | undefined
}

/** Where worktrees lie, below the project: what may reach the project reaches them too. */
export const worktreesFolder = '.handrail/worktrees'

/** Schema of what names a worktree. */
export const idField = { type: 'string', minLength: 1, maxLength: 64 } as const

/** What git itself looks for among the folders of worktrees. */
const ofGit = /^(?:commondir|config|config\.worktree|gitdir|hooks|modules)$/i

/** A name that is one folder, no flag, and nothing that git or others obey. Fails with `invalid_input`. */
export function requireWorktreeName(name: string): string {
  const plain = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) && !/\.\.|\.$|\.lock$/.test(name)
  if (plain && !ofGit.test(name) && !isProtected(name)) return name
  throw invalidInput(
    `${JSON.stringify(name)} cannot be the name of a worktree. Take letters, digits, ".", "_" and "-", at most 64, a letter or digit first.`,
  )
}

/** A name that git takes for a branch and never for a flag or a revision. Fails with `invalid_input`. */
export function requireBranchName(branch: string): string {
  const parts = branch.split('/')
  const plain = parts.every(
    (part) => /^[\p{L}\p{N}_][\p{L}\p{N}._+#=-]*$/u.test(part) && !/\.\.|\.$|\.lock$/.test(part),
  )
  if (plain && branch !== 'HEAD' && !/^[0-9a-f]{40}$/.test(branch)) return branch
  throw invalidInput(
    `${JSON.stringify(branch)} cannot be the name of a branch here. Take letters, digits and "._+#=-", in parts divided by "/", none of which begins with "." or "-".`,
  )
}

/** The folder of the project's repository. Fails with `no_repository` where the project is not its top. */
export async function requireRepository(files: Files, project: string): Promise<string> {
  const gitDir = join(project, '.git')
  if ((await files.stat(gitDir))?.kind === 'directory') return gitDir
  throw new ToolFailure({
    reason: 'no_repository',
    message: `"${project}" is not the top folder of a git repository of its own, so it can have no worktrees. Work in the project itself, or ask the person to run "git init" and to commit.`,
  })
}

/** The worktree of this name. Fails with `unknown_worktree` for one that is not there or that does not belong to the project's repository. */
export async function readWorktree(files: Files, project: string, id: string): Promise<Worktree> {
  const repository = await requireRepository(files, project)
  const path = join(project, worktreesFolder, id)
  const leadsTo = await files.resolve(path, 'read')
  const link = await readLine(files, join(path, '.git'))
  const gitDir = /^gitdir: (.+)$/.exec(link ?? '')?.[1] ?? ''
  const folder = gitDir.startsWith(join(repository, 'worktrees/')) ? gitDir.slice(repository.length + 11) : ''
  if (leadsTo !== path || folder === '' || folder === '..' || folder.includes('/'))
    throw await unknownWorktree(files, project, id)
  const worktree = await readKnown(files, { id, path, gitDir })
  if (worktree === undefined) throw await unknownWorktree(files, project, id)
  return worktree
}

/** What git keeps of a worktree; undefined if that does not lead to the worktree's folder, or leads to another repository. */
export async function readKnown(
  files: Files,
  { id, path, gitDir }: Omit<Worktree, 'branch'>,
): Promise<Worktree | undefined> {
  const back = await readLine(files, join(gitDir, 'gitdir'))
  const common = await readLine(files, join(gitDir, 'commondir'))
  if (back !== join(path, '.git') || common !== '../..') return undefined
  const head = await readLine(files, join(gitDir, 'HEAD'))
  return { id, path, gitDir, branch: /^ref: refs\/heads\/(.+)$/.exec(head ?? '')?.[1] }
}

/** The same, or undefined if there is none that is whole. */
export async function findWorktree(files: Files, project: string, id: string): Promise<Worktree | undefined> {
  try {
    return await readWorktree(files, project, id)
  } catch (error) {
    const isNone =
      error instanceof ToolFailure &&
      (error.reason === 'unknown_worktree' || error.reason === 'no_repository')
    if (isNone) return undefined
    throw error
  }
}

/** The branch that a worktree gets if no other one is named. */
export function branchOf(id: string): string {
  return `handrail/${id}`
}

/** The names of what lies where worktrees lie. */
export async function listWorktrees(files: Files, project: string): Promise<string[]> {
  const folder = join(project, worktreesFolder)
  if ((await files.stat(folder))?.kind !== 'directory') return []
  const { entries } = await files.list(folder, { recursive: false, limit: 1_000 })
  return entries.filter(({ kind }) => kind === 'directory').map(({ path }) => path)
}

/** Whether the repository has a branch of this name. */
export async function hasBranch(files: Files, repository: string, branch: string): Promise<boolean> {
  const reference = `refs/heads/${branch}`
  if ((await files.stat(join(repository, reference)))?.kind === 'file') return true
  const packed = join(repository, 'packed-refs')
  if ((await files.stat(packed))?.kind !== 'file') return false
  const { bytes } = await files.read(packed)
  return Buffer.from(bytes)
    .toString()
    .split('\n')
    .some((line) => line.slice(41) === reference)
}

async function readLine(files: Files, path: string): Promise<string | undefined> {
  if ((await files.stat(path))?.kind !== 'file') return undefined
  const { bytes } = await files.read(path, { maxBytes: 8_192 })
  return Buffer.from(bytes).toString().trimEnd()
}

async function unknownWorktree(files: Files, project: string, id: string): Promise<ToolFailure> {
  const there = await listWorktrees(files, project)
  const known =
    there.length === 0 ? 'There are none.' : `There are: ${there.map((name) => `"${name}"`).join(', ')}.`
  return new ToolFailure({
    reason: 'unknown_worktree',
    message: `"${worktreesFolder}/${id}" is not a worktree of this project's repository. ${known}`,
    data: { id, worktrees: there },
  })
}
