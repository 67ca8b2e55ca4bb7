import { isUtf8 } from 'node:buffer'
import { relative } from 'node:path'
import type { FileEffect, HeldChanges } from '../../contract/base/effects.ts'
import { maxUndonePaths } from '../../contract/services/history.ts'
import type { Preview } from '../../contract/tool/plan.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { fateOf } from '../../kit/match/protected-path.ts'
import { describeEffect, nameIn } from '../../kit/text/describe-effect.ts'
import { quoteArgument } from '../../kit/text/quote-argv.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import { callFacts } from './call-facts.ts'

/** Paths that are named, files whose text is compared, and the letters of all comparisons together. */
const maxNamed = 200
const maxCompared = 40
const maxFileBytes = 256 * 1024
const maxLetters = 48 * 1024

/** What a person sees of a command that ran before they were asked: what it printed, each path, and what changed in texts. */
export async function showHeld(
  held: HeldChanges,
  { effects, digest }: { effects: readonly FileEffect[]; digest: string },
  { admitted, scope }: { admitted: Admitted; scope: CallScope },
): Promise<Preview> {
  const { title, body } = admitted.preview ?? { title: admitted.registered.definition.title, body: '' }
  const { project } = scope.tenant
  const {
    guarded = [],
    ofGit = [],
    others = [],
  } = Object.groupBy(effects, ({ path }) =>
    isGuarded(path, scope) ? 'guarded' : isOfGit(path, project) ? 'ofGit' : 'others',
  )
  const named = [...guarded, ...others.slice(0, maxNamed)].map((effect) => describeEffect(effect, project))
  const more = others.length > maxNamed ? [`and ${others.length - maxNamed} more`] : []
  const diffs = await compare(held, [...guarded, ...others], { admitted, scope })
  return {
    kind: effects.length === 0 ? 'argv' : 'diff',
    title: `${title}: it ${held.ended}, and ${held.canLand ? count(effects.length) : 'nothing of what it wrote can be kept'}`,
    body: [
      body,
      '',
      effects.length === 0
        ? `${held.canLand ? 'It changed no file. ' : ''}A yes hands over what it printed.`
        : 'Nothing of this is in force yet. A yes lands exactly these bytes, a no drops them:',
      ...(guarded.length === 0
        ? []
        : [`${describeGuardedCount(guarded.length)} sensitive, or run or obeyed by other programs.`]),
      ...named,
      ...more,
      ...(ofGit.length === 0 ? [] : [`and ${ofGit.length} that git keeps for itself in .git`]),
      ...describeUndo(effects, ofGit.length),
      '',
      held.outcome,
      ...diffs,
      ...(effects.length === 0 ? [] : ['', `all of it: ${digest}`]),
    ].join('\n'),
  }
}

function count(changes: number): string {
  if (changes === 0) return 'changed no file'
  return changes === 1 ? '1 change waits' : `${changes} changes wait`
}

function describeGuardedCount(guarded: number): string {
  return guarded === 1 ? 'The first one is' : `The first ${guarded} are`
}

/** What a person has to know who counts on an undo. */
function describeUndo(effects: readonly FileEffect[], ofGit: number): string[] {
  if (effects.length > maxUndonePaths)
    return [`This cannot be taken back with undo: it is more than ${maxUndonePaths} paths.`]
  return ofGit > 0 ? ['This cannot be taken back with undo: git has commands for that.'] : []
}

async function compare(
  held: HeldChanges,
  effects: readonly FileEffect[],
  { admitted, scope }: { admitted: Admitted; scope: CallScope },
): Promise<string[]> {
  const { project } = scope.tenant
  const texts = effects.filter(
    ({ kind, effect, sameContent }) =>
      // A link may have taken the place of a file.
      (kind === 'file' || (kind === 'link' && effect === 'changed')) && sameContent !== true,
  )
  const compared = texts.slice(0, maxCompared).filter(({ path }) => mayBeShown(path, { admitted, scope }))
  const { previewDiff } = await import('../../kit/diff/preview-diff.ts')
  const diffs: string[] = []
  let left = maxLetters
  for (const { path, effect, kind } of compared) {
    const { before, after } = await held.contents(path, maxFileBytes)
    const [old, now] = [toText(before), toText(after)]
    const isGone = effect === 'removed' || kind === 'link'
    if ((effect !== 'created' && old === undefined) || (!isGone && now === undefined)) continue
    const { body } = previewDiff({
      name: quoteArgument(nameIn(project, path)),
      before: old,
      after: now ?? '',
    })
    left -= body.length
    if (left < 0) break
    diffs.push('', body.trimEnd())
  }
  const shown = diffs.length / 2
  return shown < texts.length
    ? [
        ...diffs,
        '',
        `texts of ${texts.length - shown} more files are not shown (large, sensitive or not text)`,
      ]
    : diffs
}

/** Whether a path is one that a person always has to see. */
function isGuarded(path: string, { tenant: { policy } }: CallScope): boolean {
  const root = policy.writable.find((each) => isInside(path, each))
  return (
    policy.sensitivePaths([path]).length > 0 ||
    (root !== undefined && fateOf(relative(root, path)) !== undefined)
  )
}

/** What git keeps is for git to read. */
function isOfGit(path: string, project: string): boolean {
  return nameIn(project, path).split('/').includes('.git')
}

/** Whether the person who decides may see what is in a file: it is not sensitive, and no rule denies that this tool reads it. */
function mayBeShown(path: string, { admitted, scope }: { admitted: Admitted; scope: CallScope }): boolean {
  const { policy } = scope.tenant
  if (policy.sensitivePaths([path]).length > 0) return false
  const decision = policy.decide({
    ...callFacts(admitted, scope),
    operations: [{ kind: 'fs.read', path }],
    granted: undefined,
  })
  return decision.effect !== 'deny'
}

function toText(bytes: Uint8Array | undefined): string | undefined {
  return bytes !== undefined && isUtf8(bytes) && !bytes.includes(0)
    ? Buffer.from(bytes).toString()
    : undefined
}
