import { dirname, join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Plan, PlanContext } from '../../../contract/tool/plan.ts'
import type { ToolOutput } from '../../../contract/base/result.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import type { ContextWith } from '../../../define/tool-spec.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { runScopes, writesAnywhere } from '../base/fields.ts'
import { filterSettings } from './filter-settings.ts'
import { findGit, gitArgv, runGit, type GitCommand } from './git.ts'
import {
  branchOf,
  hasBranch,
  idField,
  listWorktrees,
  readWorktree,
  requireBranchName,
  requireRepository,
  requireWorktreeName,
  worktreesFolder,
  type Worktree,
} from './worktree.ts'

/** What a plan leaves for the run: a worktree that is there, or how to make one. */
type PlannedEntry =
  | { kind: 'there'; worktree: Worktree }
  | { kind: 'new'; id: string; branch: string; settings: GitCommand; add: GitCommand }

/** `code.enter_worktree`: a working copy of the repository on a branch of its own, below the project. */
export function enterWorktreeTool(): Tool {
  return defineBuiltin({
    name: 'code.enter_worktree',
    title: 'Enter worktree',
    description: `Makes a git worktree from the last commit, or finds the one of that name, below ${worktreesFolder}. Nothing else changes: the session stays in the project, so use the path of the result in later calls. End it with code.exit_worktree.`,
    tags: ['code', 'process', 'filesystem', 'write'],
    permission: 'write',
    sideEffect: 'process',
    scopes: runScopes,
    capabilities: { ...writesAnywhere, proc: { executables: ['git'] } },
    limits: { timeoutMs: 300_000, concurrency: 1 },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    needs: ['files', 'commands'],
    input: {
      type: 'object',
      properties: {
        name: { ...idField, description: 'Name of the folder. Default: worktree-1 or the next free number.' },
        branch: {
          type: 'string',
          minLength: 1,
          maxLength: 200,
          description: 'Branch to check out, made where there is none. Default: the name behind handrail/.',
        },
      },
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'For code.exit_worktree.' },
        path: { type: 'string', description: 'Relative to the project root.' },
        branch: { type: ['string', 'null'] },
        created: { type: 'boolean' },
      },
      required: ['id', 'path', 'branch', 'created'],
      additionalProperties: false,
    },
    compatible: {
      name: 'EnterWorktree',
      description: `Makes a git worktree, or enters the one at path, below ${worktreesFolder}. The working directory does not change: use the path of the result.`,
      inputSchema: {
        type: 'object',
        properties: {
          name: idField,
          path: { type: 'string', minLength: 1, description: `A worktree below ${worktreesFolder}.` },
        },
        additionalProperties: false,
      },
      toCanonical: ({ name, path }) => ({
        ...((name ?? path) !== undefined && { name: toName(name, path) }),
      }),
    },
    decode: ({ name, branch }) => ({
      name: name === undefined ? undefined : requireWorktreeName(name),
      branch: branch === undefined ? undefined : requireBranchName(branch),
    }),
    plan: planEntry,
    run: (_input, context) =>
      context.planned.kind === 'there'
        ? enterThere(context, context.planned.worktree)
        : makeWorktree(context, context.planned),
  })
}

/** What the tools of worktrees run with. */
export type WorktreeContext = ContextWith<'files' | 'commands'>

/** The last part of a path below the folder of worktrees; what leads elsewhere stays as it is and is refused as a name. */
function toName(name: unknown, path: unknown): string {
  if (typeof name === 'string') return name
  const [, inside] = /(?:^|\/)\.handrail\/worktrees\/([^/]+)\/?$/.exec(String(path)) ?? []
  return inside ?? String(path)
}

async function planEntry(
  asked: { name: string | undefined; branch: string | undefined },
  context: PlanContext,
): Promise<Plan & { planned: PlannedEntry }> {
  const { project, files } = context
  const repository = await requireRepository(files, project)
  const id = asked.name ?? freeName(await listWorktrees(files, project))
  const path = join(project, worktreesFolder, id)
  if ((await files.stat(path)) !== undefined) {
    const worktree = await readWorktree(files, project, id)
    if (asked.branch !== undefined && asked.branch !== worktree.branch)
      throw otherBranch(worktree, asked.branch)
    return { operations: [{ kind: 'fs.read', path }], scope: path, planned: { kind: 'there', worktree } }
  }
  await requireWritable(context, repository)
  const branch = asked.branch ?? requireBranchName(branchOf(id))
  const exists = await hasBranch(files, repository, branch)
  const words = exists
    ? ['worktree', 'add', '--', path, branch]
    : ['worktree', 'add', '--no-track', '-b', branch, '--', path, 'HEAD']
  const place = { gitDir: repository, workTree: project }
  const executable = await findGit(context)
  const add: GitCommand = { executable, argv: gitArgv(place, words), cwd: project }
  const settings: GitCommand = { executable, argv: gitArgv(place, filterSettings.words), cwd: project }
  return {
    operations: [
      { kind: 'process', ...settings },
      { kind: 'process', ...add },
      { kind: 'fs.write', path },
      // What git keeps of it.
      { kind: 'fs.write', path: join(repository, 'worktrees', id) },
      { kind: 'fs.write', path: ignorePath(project) },
    ],
    preview: {
      kind: 'text',
      title: `Make worktree ${id} on ${exists ? 'the' : 'a new'} branch ${branch}`,
      body: [
        `folder ${path}`,
        exists ? `branch ${branch}, as it is` : `branch ${branch}, new, from the last commit of the project`,
        'Hooks and filters of the repository do not run.',
      ].join('\n'),
    },
    scope: `worktrees of ${project}`,
    planned: { kind: 'new', id, branch, settings, add },
  }
}

/** Git writes in the repository and below the project. Fails with `permission_denied` if the user that it runs as may not. */
async function requireWritable({ files, commands, project }: PlanContext, repository: string): Promise<void> {
  const places = [worktreesFolder, dirname(worktreesFolder), ''].map((part) => join(project, part))
  const there = await Promise.all(places.map((path) => files.stat(path)))
  const folder = places[there.findIndex((stat) => stat !== undefined)] ?? project
  for (const path of [repository, join(repository, 'refs/heads'), folder]) {
    const user = (await files.stat(path)) === undefined ? undefined : await commands.keptOut?.(path)
    if (user === undefined) continue
    throw new ToolFailure({
      reason: 'permission_denied',
      message: `Commands run as ${user}, who may not write in "${path}", so git can make no worktree there. The operator gives the folder of the project to that user with "chown -R ${user}", or names one who may, with "sandbox": { "user": "NAME" }. Work in the project itself until then.`,
      data: { path, user },
    })
  }
}

function freeName(taken: readonly string[]): string {
  for (let number = 1; ; number++) if (!taken.includes(`worktree-${number}`)) return `worktree-${number}`
}

async function makeWorktree(
  context: WorktreeContext,
  { id, branch, settings, add }: Extract<PlannedEntry, { kind: 'new' }>,
): Promise<ToolOutput> {
  const { files } = context
  const off = filterSettings.turnOff(await runGit(context, settings, { fine: 1 }))
  await runGit(context, add, { settings: off.settings })
  const worktree = await readWorktree(files, context.project, id)
  // Git in the project does not see what lies here.
  const ignore = ignorePath(context.project)
  if ((await files.stat(ignore)) === undefined)
    await files.write(ignore, Buffer.from('*\n'), { createDirs: true, expect: 'absent' })
  const notes = off.names.length === 0 ? [] : [`Filters that did not run: ${off.names.join(', ')}.`]
  return toResult({ ...worktree, branch }, { created: true, notes })
}

async function enterThere({ files, project }: WorktreeContext, { id }: Worktree): Promise<ToolOutput> {
  const worktree = await readWorktree(files, project, id)
  return toResult(worktree, { created: false, notes: [] })
}

function toResult(
  { id, branch }: Worktree,
  { created, notes }: { created: boolean; notes: readonly string[] },
): ToolOutput {
  const path = `${worktreesFolder}/${id}`
  const summary = `${created ? 'Made' : 'Found'} worktree ${path} on ${branch === undefined ? 'no branch' : `branch ${branch}`}`
  const content = [
    `${summary}.`,
    `The session stays in the project: give paths below ${path}, and "${path}" as the working directory of commands.`,
    ...(created ? ['What is not committed in the project is not in it.'] : []),
    ...notes,
    `End it with code.exit_worktree, id "${id}".`,
  ].join('\n')
  return toolOutput({ content, summary, data: { id, path, branch: branch ?? null, created } })
}

function ignorePath(project: string): string {
  return join(project, worktreesFolder, '.gitignore')
}

function otherBranch({ id, branch }: Worktree, asked: string): ToolFailure {
  return new ToolFailure({
    reason: 'path_conflict',
    message: `The worktree "${id}" is there already, on ${branch === undefined ? 'no branch' : `the branch "${branch}"`} and not on "${asked}". Leave "branch" out to enter it, or take another name.`,
    data: { id, branch: branch ?? null },
  })
}
