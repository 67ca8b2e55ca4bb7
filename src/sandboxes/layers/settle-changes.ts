import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { FileEffect, HeldChanges } from '../../contract/base/effects.ts'
import type { CapturedOutput, CommandOutcome } from '../../contract/services/sandbox.ts'
import { countBytes } from '../../kit/text/describe-effect.ts'
import { joinCaptured } from '../../kit/text/show-captured.ts'
import { describeGuarded } from '../../kit/text/show-guarded.ts'
import { readFile } from '../files/read-file.ts'
import type { Reach } from '../files/reach.ts'
import { systemErrorName } from '../files/file-failure.ts'
import type { Change } from './change.ts'
import { changedSince } from './landing/landing-failure.ts'
import type { Layer } from './layer.ts'
import { isRefused, refuseProtected } from './refused-change.ts'

/** What became of the changes of a command: they landed, or nothing of them did. */
export type Landing = Pick<CommandOutcome, 'landed' | 'leftOut' | 'notLanded'>

/** What is to land, and of which command. */
export interface LandingOf {
  /** Undefined if the command could write nowhere. */
  readonly layer: Layer | undefined
  readonly outcome: CommandOutcome
  readonly reach: Reach
  /** Whether the user that commands run as may read a file of the roots. */
  readonly mayRead: (path: string) => boolean
}

/**
 * Lets what a command wrote land, all of it or nothing: it ended by itself, and the call is permitted to. Rejects if the call itself
 * is not permitted, so that nothing of it may be shown.
 */
export async function settleChanges({ layer, outcome, reach, mayRead }: LandingOf): Promise<Landing> {
  const { written, effects, hindrance } = await readAll(layer, outcome)
  const changes = hindrance === undefined ? written : []
  const permitted = await reach.permitChanges?.(
    toHeld({ layer, outcome, reach, mayRead }, { changes, effects, hindrance }),
  )
  if (permitted instanceof ToolFailure) return { notLanded: permitted }
  if (hindrance !== undefined) return { notLanded: hindrance }
  if (layer === undefined || permitted === 'drop' || changes.length === 0) return { landed: [] }
  try {
    const { leftOut } = await layer.land(changes, { history: reach.history, signals: reach.signals() })
    return { landed: effects.filter(({ path }) => !leftOut.includes(path)), leftOut }
  } catch (error) {
    if (error instanceof ToolFailure) return { notLanded: error }
    throw error
  }
}

/** What a command wrote, and what keeps it from landing: also if another program moves what it lies over. */
async function readAll(
  layer: Layer | undefined,
  outcome: CommandOutcome,
): Promise<{
  written: readonly Change[]
  effects: readonly FileEffect[]
  hindrance: ToolFailure | undefined
}> {
  if (layer === undefined) return { written: [], effects: [], hindrance: undefined }
  let written: readonly Change[] = []
  try {
    written = await layer.read()
    const hindrance = written.length === 0 ? undefined : findHindrance(outcome, written)
    return { written, effects: hindrance === undefined ? await layer.effects(written) : [], hindrance }
  } catch (error) {
    const name = systemErrorName(error)
    if (name !== 'ENOENT' && name !== 'ENOTDIR') throw error
    return { written, effects: [], hindrance: movedMeanwhile(written[0]) }
  }
}

function movedMeanwhile(change: Change | undefined): ToolFailure {
  return changedSince(change === undefined ? 'the project' : join(change.root, change.path))
}

function toHeld(
  { layer, outcome, reach, mayRead }: LandingOf,
  {
    changes,
    effects,
    hindrance,
  }: { changes: readonly Change[]; effects: readonly FileEffect[]; hindrance: ToolFailure | undefined },
): HeldChanges {
  const byPath = new Map(changes.map((change) => [join(change.root, change.path), change]))
  return {
    effects: async () => effects,
    digest: async () => (await layer?.digest(changes)) ?? '',
    ended: describeEnd(outcome),
    canLand: hindrance === undefined,
    outcome: [
      describeOutcome(outcome),
      ...describeGuarded(outcome),
      ...(hindrance === undefined ? [] : [hindrance.message]),
    ].join('\n'),
    async contents(path, maxBytes) {
      const change = byPath.get(path)
      const hadFile = change === undefined || change.had === 'file'
      return {
        before: hadFile && mayRead(path) ? await readBefore(reach, path, maxBytes) : undefined,
        after: change?.kind === 'file' ? layer?.contents(change, maxBytes) : undefined,
      }
    },
  }
}

async function readBefore(reach: Reach, path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  try {
    return lstatSync(path).isFile() ? (await readFile(reach, path, maxBytes)).bytes : undefined
  } catch {
    // Of what may not be read, or is not there any more, nothing is shown.
    return undefined
  }
}

function findHindrance(outcome: CommandOutcome, changes: readonly Change[]): ToolFailure | undefined {
  if (outcome.survivors.length > 0)
    return nothingKept('still_running', 'processes of the command may still run, and write')
  if (outcome.ended !== 'exit')
    return nothingKept(
      outcome.ended === 'timeout' ? 'timed_out' : 'aborted_by_user',
      'the command did not end by itself',
    )
  const refused = changes.filter(isRefused).map(({ root, path }) => join(root, path))
  return refused.length === 0 ? undefined : refuseProtected(refused)
}

function nothingKept(reason: string, why: string): ToolFailure {
  return new ToolFailure({
    reason,
    message: `Nothing of what the command wrote was kept: ${why}.`,
  })
}

/** Lines of each stream that are shown to the person who decides. */
const shownLines = 40
const shownLetters = 4_000

function describeEnd({ ended, exitCode, signal }: CommandOutcome): string {
  if (ended === 'timeout') return 'was stopped at its time limit'
  if (ended === 'abort') return 'was stopped'
  if (exitCode === null) return `was ended by ${signal ?? 'a signal'}`
  return exitCode === 0 ? 'has run' : `failed (exit code ${exitCode})`
}

function describeOutcome(outcome: CommandOutcome): string {
  const { exitCode, durationMs, stdout, stderr } = outcome
  const how = exitCode === 0 ? 'ended with exit code 0' : describeEnd(outcome)
  const parts = [`It ${how} after ${(durationMs / 1000).toFixed(1)} s.`]
  for (const [name, stream] of [
    ['stdout', stdout],
    ['stderr', stderr],
  ] as const)
    if (stream.bytes > 0) parts.push(`${name} (${countBytes(stream.bytes)}):`, lastOf(stream))
  return parts.join('\n')
}

function lastOf(stream: CapturedOutput): string {
  const whole = joinCaptured(stream).trimEnd()
  const lines = whole.slice(-shownLetters).split('\n').slice(-shownLines)
  const last = lines.join('\n')
  const left = stream.bytes - Buffer.byteLength(last)
  const shown = last === whole ? lines : [`… about ${countBytes(left)} before this are not shown`, ...lines]
  return shown.map((line) => `    ${line}`).join('\n')
}
