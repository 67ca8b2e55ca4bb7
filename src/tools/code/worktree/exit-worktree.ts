import { join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Plan, PlanContext } from '../../../contract/tool/plan.ts'
import type { ToolOutput } from '../../../contract/base/result.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import { matchPath } from '../../../kit/match/match-pattern.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { countOf } from '../base/count-of.ts'
import { runScopes, writesAnywhere } from '../base/fields.ts'
import type { WorktreeContext } from './enter-worktree.ts'
import { findGit, gitArgv, runGit, type GitCommand } from './git.ts'
import { findUnsavedWork, lookCommands, type LookCommands, type UnsavedWork } from './unsaved-work.ts'
import {
  isWhatWasShown,
  listWork,
  maxShown,
  notePath,
  readNote,
  writeNote,
  type WorkNote,
} from './work-note.ts'
import { idField, readWorktree, requireWorktreeName, worktreesFolder, type Worktree } from './worktree.ts'

type PlannedExit =
  | { kind: 'keep'; worktree: Worktree }
  | {
      kind: 'remove'
      worktree: Worktree
      look: LookCommands
      remove: GitCommand
      /** Also takes what git itself would refuse to remove. */
      force: GitCommand
      discards: WorkNote | undefined
    }

/** `code.exit_worktree`: leaves a worktree as it is, or removes it if no work is lost but what the caller agreed to lose. */
export function exitWorktreeTool(): Tool {
  return defineBuiltin({
    name: 'code.exit_worktree',
    title: 'Exit worktree',
    description:
      'Keeps or removes a worktree of code.enter_worktree. Its branch and stashes stay in any case. Removing refuses with work_would_be_lost, and lists it, where files are changed, untracked or ignored or commits are on no branch; discard_changes then removes what was listed, and only that.',
    tags: ['code', 'process', 'filesystem', 'write'],
    permission: 'write',
    sideEffect: 'process',
    safety: 'high',
    scopes: runScopes,
    capabilities: { ...writesAnywhere, proc: { executables: ['git'] } },
    limits: { timeoutMs: 300_000, concurrency: 1 },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    needs: ['files', 'commands'],
    input: {
      type: 'object',
      properties: {
        id: { ...idField, description: 'As code.enter_worktree gave it.' },
        action: { type: 'string', enum: ['keep', 'remove'], default: 'keep' },
        discard_changes: {
          type: 'boolean',
          default: false,
          description: 'Remove it with the work that an earlier call listed.',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        id: { type: 'string' },
        path: { type: 'string' },
        branch: { type: ['string', 'null'], description: 'It stays in the repository.' },
        removed: { type: 'boolean' },
        lost: { type: 'array', items: { type: 'string' }, description: 'Work that went with it.' },
      },
      required: ['id', 'path', 'branch', 'removed', 'lost'],
      additionalProperties: false,
    },
    compatible: {
      name: 'ExitWorktree',
      description:
        'Keeps or removes a worktree of EnterWorktree. Its branch and stashes stay in any case. Removing refuses with work_would_be_lost, and lists it, where files are changed, untracked or ignored or commits are on no branch; discard_changes then removes what was listed, and only that.',
      inputSchema: {
        type: 'object',
        properties: {
          id: idField,
          action: { type: 'string', enum: ['keep', 'remove'] },
          discard_changes: { type: 'boolean' },
        },
        required: ['id'],
        additionalProperties: false,
      },
      toCanonical: (input) => input,
    },
    decode: ({ id, action, discard_changes }) => ({
      id: requireWorktreeName(id),
      action,
      discard: discard_changes,
    }),
    plan: planExit,
    run: (_input, context) =>
      context.planned.kind === 'keep'
        ? keep(context, context.planned.worktree)
        : remove(context, context.planned),
  })
}

async function planExit(
  { id, action, discard }: { id: string; action: 'keep' | 'remove'; discard: boolean },
  context: PlanContext,
): Promise<Plan & { planned: PlannedExit }> {
  const { project, files } = context
  const worktree = await readWorktree(files, project, id)
  const { path } = worktree
  if (action === 'keep')
    return { operations: [{ kind: 'fs.read', path }], scope: path, planned: { kind: 'keep', worktree } }
  const executable = await findGit(context)
  const discards = discard ? await readNote(files, worktree) : undefined
  const look = lookCommands(executable, worktree)
  const place = { gitDir: join(project, '.git'), workTree: project }
  const run = (...words: string[]): GitCommand => ({
    executable,
    argv: gitArgv(place, ['worktree', 'remove', ...words, '--', path]),
    cwd: project,
  })
  const remove = run()
  const force = run('--force')
  const runs = [...Object.values(look), ...(discards === undefined ? [remove] : [remove, force])]
  return {
    operations: [
      ...runs.map((command) => ({ kind: 'process' as const, ...command })),
      { kind: 'fs.write', path },
      { kind: 'fs.write', path: notePath(worktree) },
    ],
    preview: {
      kind: 'text',
      title: `Remove worktree ${id}${discards === undefined ? '' : `, losing ${countOf(discards.items.length, 'thing')}`}`,
      body: [
        `folder ${path}`,
        worktree.branch === undefined ? 'no branch is checked out' : `branch ${worktree.branch} stays`,
        discards === undefined
          ? 'Where work would be lost, it is listed and nothing is removed.'
          : `This is lost for good, unless it changes before:\n${listWork(discards.items)}`,
      ].join('\n'),
    },
    scope: `${path} ${discards?.digest ?? ''}`,
    planned: { kind: 'remove', worktree, look, remove, force, discards },
  }
}

async function keep({ files, project }: WorktreeContext, { id }: Worktree): Promise<ToolOutput> {
  const worktree = await readWorktree(files, project, id)
  return toResult(worktree, { removed: false, lost: [] })
}

async function remove(
  context: WorktreeContext,
  { worktree: planned, look, discards, ...commands }: Extract<PlannedExit, { kind: 'remove' }>,
): Promise<ToolOutput> {
  const { files } = context
  const worktree = await readWorktree(files, context.project, planned.id)
  if (worktree.gitDir !== planned.gitDir) throw replaced(worktree)
  const found = await findUnsavedWork(context, worktree, look)
  if (found.items.length > 0 && !isWhatWasShown(found, discards)) {
    await writeNote(files, worktree, found)
    throw wouldBeLost(worktree, found, discards)
  }
  refuseSensitive(context, worktree, found.files)
  const command = found.items.length === 0 ? commands.remove : commands.force
  await runGit(context, command, { settings: found.settings })
  return toResult(worktree, { removed: true, lost: found.items })
}

/** Programs do not see sensitive files as they are and cannot remove them: git would stop in the middle. */
function refuseSensitive(context: WorktreeContext, { id, path }: Worktree, files: readonly string[]): void {
  const globs = context.sensitiveGlobs.map((glob) => glob.toLowerCase())
  const found = files.find((file) => globs.some((glob) => matchPath(glob, join(path, file).toLowerCase())))
  if (found === undefined) return
  throw new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'sensitive_path',
    message: `The worktree "${id}" holds the sensitive file "${found}", which no tool removes. Nothing was removed; ask the person to delete that file or the worktree.`,
    data: { id, path: found },
  })
}

function toResult(
  { id, branch }: Worktree,
  { removed, lost }: { removed: boolean; lost: readonly string[] },
): ToolOutput {
  const path = `${worktreesFolder}/${id}`
  const stays = branch === undefined ? '' : ` The branch ${branch} stays in the repository.`
  const summary = removed ? `Removed worktree ${path}` : `Kept worktree ${path}`
  const more = removed
    ? lost.length === 0
      ? ' No work was lost.'
      : ` With it went:\n${listWork(lost)}`
    : ' Everything in it is as it was.'
  return toolOutput({
    content: `${summary}.${stays}${more}`,
    summary,
    data: { id, path, branch: branch ?? null, removed, lost: lost.slice(0, maxShown) },
  })
}

function wouldBeLost({ id }: Worktree, { items }: UnsavedWork, discards: WorkNote | undefined): ToolFailure {
  const since = discards === undefined ? '' : ' It is no longer what was shown.'
  return new ToolFailure({
    reason: 'work_would_be_lost',
    message: `The worktree "${id}" has work that would be lost; nothing was removed.${since}\n${listWork(items)}\nCommit it on a branch, keep the worktree, or, if the person wants that, call again with discard_changes.`,
    data: { id, lost: items.slice(0, maxShown), count: items.length },
  })
}

function replaced({ id }: Worktree): ToolFailure {
  return new ToolFailure({
    reason: 'stale_preview',
    message: `The worktree "${id}" is another one than when the call was checked; nothing was removed. Make the call again.`,
  })
}
