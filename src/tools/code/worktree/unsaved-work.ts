import { join } from 'node:path'
import type { Files } from '../../../contract/base/sandbox.ts'
import type { ContextWith } from '../../../define/tool-spec.ts'
import { digest } from '../../../kit/json/digest.ts'
import { worktreeNote } from '../../../kit/match/protected-path.ts'
import { filterSettings } from './filter-settings.ts'
import { gitArgv, runGit, type GitCommand } from './git.ts'
import type { Worktree } from './worktree.ts'

/** What would be gone with a worktree, as lines for people, and a digest of its state: other work, other digest. */
export interface UnsavedWork {
  items: readonly string[]
  digest: string
  /** How many of the items are files that are not there. */
  missing: number
  /** Every file of the worktree, relative to it. */
  files: readonly string[]
  /** What turns off the filters of the repository. */
  settings: readonly (readonly [string, string])[]
}

/** What looking for it needs. */
export type GitContext = Pick<ContextWith<'files' | 'commands'>, 'files' | 'commands' | 'signal'>

/** The runs of git that look for it, in order; `orphans` reads commits from its standard input. */
export type LookCommands = Readonly<Record<keyof typeof looks, GitCommand>>

/** Commits of its branches stay in the repository, and so do stashes; what only this worktree leads to does not. */
const kept = ['--not', '--branches', '--tags', '--remotes']

const looks = {
  settings: filterSettings.words,
  status: [
    'status',
    '--porcelain=v1',
    '-z',
    '--untracked-files=all',
    '--ignored=traditional',
    '--no-renames',
    '--ignore-submodules=dirty',
  ],
  index: ['ls-files', '-z', '-v', '-s'],
  past: ['rev-list', '--walk-reflogs', 'HEAD'],
  branches: ['rev-list', '--walk-reflogs', '--branches'],
  head: ['rev-list', '--max-count=1', 'HEAD'],
  orphans: ['rev-list', '--ignore-missing', '--stdin', ...kept],
} as const

/** Names in a worktree's own git folder that hold no work. */
const noWork = new Set([
  'COMMIT_EDITMSG',
  'FETCH_HEAD',
  'HEAD',
  'ORIG_HEAD',
  'commondir',
  'config.worktree',
  'gitdir',
  'index',
  'info',
  'logs',
  'refs',
])

export function lookCommands(executable: string, { gitDir, path }: Worktree): LookCommands {
  const run = (words: readonly string[]): GitCommand => ({
    executable,
    argv: gitArgv({ gitDir, workTree: path }, words),
    cwd: path,
  })
  return {
    settings: run(looks.settings),
    status: run(looks.status),
    index: run(looks.index),
    past: run(looks.past),
    branches: run(looks.branches),
    head: run(looks.head),
    orphans: run(looks.orphans),
  }
}

/** Looks for work that would be gone with the worktree: changed, untracked and ignored files, commits that nothing else leads to, repositories inside, steps of git that are not finished. */
export async function findUnsavedWork(
  context: GitContext,
  worktree: Worktree,
  commands: LookCommands,
): Promise<UnsavedWork> {
  const { files } = context
  const { settings } = filterSettings.turnOff(await runGit(context, commands.settings, { fine: 1 }))
  const index = await runGit(context, commands.index, { settings })
  const changes = readStatus(await runGit(context, commands.status, { settings }))
  const tracked = readIndex(index)
  const items = [
    ...changes.map(({ path, what }) => `${what}: ${path}`),
    ...(await findUnwatched(files, worktree, tracked)),
    ...(await findOwnState(files, worktree)),
    ...(await findOrphans(context, commands)),
  ]
  const stats = await Promise.all(changes.slice(0, maxStats).map(({ path }) => markOf(files, worktree, path)))
  const all = [...tracked, ...changes].map(({ path }) => path)
  return {
    items,
    digest: digest(JSON.stringify({ items, index, stats })),
    missing: changes.filter(({ isMissing }) => isMissing).length,
    files: [...new Set(all)],
    settings,
  }
}

/** More files than this are told apart by their names only. */
const maxStats = 2_000

interface ChangedFile {
  path: string
  isMissing: boolean
  what: string
}

function readStatus(output: string): ChangedFile[] {
  return split(output).map((line) => {
    const state = line.slice(0, 2)
    const what = state === '??' ? 'untracked' : state === '!!' ? 'ignored' : 'changed'
    return { path: line.slice(3), what, isMissing: state === ' D' }
  })
}

interface TrackedFile {
  tag: string
  mode: string
  path: string
}

function readIndex(output: string): TrackedFile[] {
  return split(output).map((line) => {
    const tab = line.indexOf('\t')
    return { tag: line.slice(0, 1), mode: line.slice(2, 8), path: line.slice(tab + 1) }
  })
}

/** Files of which git was told not to look at changes, and repositories inside this one. */
async function findUnwatched(
  files: Files,
  { path: root }: Worktree,
  tracked: readonly TrackedFile[],
): Promise<string[]> {
  const items: string[] = []
  for (const { tag, mode, path } of tracked) {
    const isLink = mode === '160000'
    const isHidden = tag === 'S' || tag !== tag.toUpperCase()
    if (!isLink && !isHidden) continue
    const there = await files.stat(join(root, path, isLink ? '.git' : ''))
    if (there === undefined) continue
    items.push(
      isLink
        ? `submodule with its own commits and stashes: ${path}`
        : `hidden from git status, may be changed: ${path}`,
    )
  }
  return items
}

/** What git keeps for this worktree alone: merges, rebases and bisections under way, its own references, submodules. */
async function findOwnState(files: Files, { gitDir }: Worktree): Promise<string[]> {
  const { entries } = await files.list(gitDir, { recursive: false, limit: 1_000 })
  const state = entries.flatMap(({ path }) =>
    noWork.has(path) || path === worktreeNote ? [] : [`state of git: ${path}`],
  )
  const refs = join(gitDir, 'refs')
  if ((await files.stat(refs)) === undefined) return state
  const own = await files.list(refs, { recursive: true, limit: 1_000 })
  const names = own.entries.flatMap(({ path, kind }) =>
    kind === 'file' ? [`reference of its own: refs/${path}`] : [],
  )
  return [...state, ...names]
}

/** Commits that were made or looked at here and that no branch, tag or past of a branch leads to. */
async function findOrphans(context: GitContext, commands: LookCommands): Promise<string[]> {
  const lines = async (command: GitCommand) =>
    (await runGit(context, command)).split('\n').filter((line) => line !== '')
  const known = new Set(await lines(commands.branches))
  const seen = [...(await lines(commands.head)), ...(await lines(commands.past))]
  const asked = [...new Set(seen)].filter((commit) => !known.has(commit))
  if (asked.length === 0) return []
  const orphans = await runGit(context, commands.orphans, { stdin: `${asked.join('\n')}\n` })
  return orphans.split('\n').flatMap((commit) => (commit === '' ? [] : [`commit on no branch: ${commit}`]))
}

async function markOf(files: Files, { path: root }: Worktree, path: string): Promise<readonly number[]> {
  const stat = await files.stat(join(root, path))
  return stat === undefined ? [] : [stat.size, stat.mtimeMs, stat.mode, stat.ino]
}

function split(output: string): string[] {
  return output.split('\0').filter((line) => line !== '')
}
