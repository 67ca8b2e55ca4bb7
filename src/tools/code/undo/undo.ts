import type { PathEffect } from '../../../contract/base/effects.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { maxUndonePaths, type PastCall, type PastCalls } from '../../../contract/services/history.ts'
import type { Plan, PlanContext } from '../../../contract/tool/plan.ts'
import type { ToolOutput } from '../../../contract/base/result.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import type { ContextWith } from '../../../define/tool-spec.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { countOf } from '../base/count-of.ts'
import { changesFiles } from '../base/fields.ts'
import { invalidInput } from '../base/invalid-input.ts'
import { showPath } from '../base/show-path.ts'
import { findSources, openContent, type Sources } from './find-sources.ts'
import { describeChange, previewUndo } from './show-undo.ts'
import { requireEmptied, startTakingBack } from './take-back.ts'

/** What is to be taken back: named calls, or the last ones of the session. */
type Wish = { calls: readonly string[] } | { last: number }

interface PlannedUndo {
  readonly calls: readonly string[]
  readonly changes: readonly PathEffect[]
  readonly sources: Sources
}

const maxCalls = 1_000
const maxShown = 50

/** `code.undo`: puts back what earlier calls changed, all of it or nothing. */
export function undoTool(): Tool {
  return defineBuiltin({
    name: 'code.undo',
    title: 'Undo',
    description:
      'Takes back what earlier calls changed of files: the last one of this session, or as many as count says, or the named ones. All of it or nothing: it fails with changed_since where a path is not as the call left it. An undo can be taken back too, by its id.',
    ...changesFiles,
    needs: ['files', 'pastCalls'],
    limits: { timeoutMs: 300_000, maxFiles: maxUndonePaths, concurrency: 1 },
    input: {
      type: 'object',
      properties: {
        call: { ...callField, description: 'Id of one call. Default: the last one of this session.' },
        calls: {
          type: 'array',
          items: callField,
          minItems: 1,
          maxItems: maxCalls,
          description: 'Ids of several calls, taken back as one step.',
        },
        count: {
          type: 'integer',
          minimum: 1,
          maximum: maxCalls,
          description: 'How many of the last calls of this session that changed files. Default: 1.',
        },
      },
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        calls: { type: 'array', items: { type: 'string' }, description: 'The newest first.' },
        paths: { type: 'array', items: { type: 'string' }, description: 'What changed, at most 50.' },
        changed: { type: 'integer', description: 'How many paths changed.' },
      },
      required: ['calls', 'paths', 'changed'],
      additionalProperties: false,
    },
    decode: ({ call, calls, count }) => toWish({ call, calls, count }),
    plan: planUndo,
    run: (_input, context) => undo(context),
  })
}

const callField = { type: 'string', minLength: 1, maxLength: 100 } as const

function toWish({
  call,
  calls,
  count,
}: {
  call: string | undefined
  calls: readonly string[] | undefined
  count: number | undefined
}): Wish {
  if ([call, calls, count].filter((each) => each !== undefined).length > 1)
    throw invalidInput('Give one of "call", "calls" and "count", or none of them for the last call.')
  const named = calls ?? (call === undefined ? undefined : [call])
  return named === undefined ? { last: count ?? 1 } : { calls: named }
}

async function planUndo(wish: Wish, context: PlanContext): Promise<Plan & { planned: PlannedUndo }> {
  const { files, project, pastCalls } = context
  if (pastCalls === undefined) throw new Error('The service "pastCalls" is missing.')
  const taking = startTakingBack(context)
  const calls: PastCall[] = []
  const wanted = 'last' in wish ? wish.last : Infinity
  for (const call of await pastCalls.find('last' in wish ? 'session' : wish)) {
    if (calls.length >= wanted) break
    if (await taking.add(call)) calls.push(call)
  }
  const changes = taking.changes()
  if (changes.length === 0) throw nothingToUndo('last' in wish && calls.length === 0)
  await requireEmptied(changes, context)
  const sources = await findSources(changes, { calls, pastCalls, project })
  const opened = {
    now: (path: string) => files.chunks(path),
    content: (digest: string) => openContent(digest, { sources, pastCalls, files }),
  }
  const ids = calls.map(({ call }) => call)
  return {
    operations: changes.map(({ path }) => ({ kind: 'fs.write', path })),
    preview: await previewUndo({ calls, changes }, { project, opened }),
    // A yes for the session is one to these very calls.
    scope: `undo of ${ids.join(', ')}`,
    planned: { calls: ids, changes, sources },
  }
}

async function undo({
  files,
  project,
  pastCalls,
  planned,
}: ContextWith<'files' | 'pastCalls', PlannedUndo>): Promise<ToolOutput> {
  const { calls, changes, sources } = planned
  await requireKnown(pastCalls, calls)
  pastCalls.takesBack(calls)
  await files.restore(changes, (digest) => openContent(digest, { sources, pastCalls, files }))
  await pastCalls.tookBack()
  const summary = `Took back ${countOf(calls.length, 'call')}: ${countOf(changes.length, 'path')} changed`
  const shown = changes.slice(0, maxShown)
  const more = changes.length - shown.length
  return toolOutput({
    content: [
      `${summary}.`,
      ...shown.map((change) => describeChange(change, project)),
      ...(more > 0 ? [`and ${more} more`] : []),
    ].join('\n'),
    summary,
    data: {
      calls: [...calls],
      paths: shown.map(({ path }) => showPath(project, path)),
      changed: changes.length,
    },
  })
}

/** They may have been cleared away since the plan. */
async function requireKnown(pastCalls: PastCalls, calls: readonly string[]): Promise<void> {
  await pastCalls.find({ calls })
}

function nothingToUndo(isNoneLeft: boolean): ToolFailure {
  return new ToolFailure({
    reason: 'nothing_to_undo',
    message: isNoneLeft
      ? 'This session has no call left to take back: none changed a file that is still as the call left it. To take back a call of another session, or an undo, name it by its id.'
      : 'All is as it was before these calls already; nothing was done.',
  })
}
