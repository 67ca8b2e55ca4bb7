import { lstatSync } from 'node:fs'
import type { ToolFailure } from '../../contract/base/errors.ts'
import type { CommandOutcome, Commands, Hold } from '../../contract/services/sandbox.ts'
import { joinCaptured } from '../../kit/text/show-captured.ts'
import type { Reach } from '../files/reach.ts'
import type { LayerWay } from '../layers/layer-namespace.ts'
import type { Layer } from '../layers/layer.ts'
import { settleChanges } from '../layers/settle-changes.ts'
import { toEffect } from '../layers/to-effect.ts'
import { toProfilePlaces } from '../visible/profile-places.ts'
import type { Isolation, Means } from './isolation.ts'
import { noSandbox } from './sandbox-fault.ts'
import { mayUse } from './system-places.ts'

type Command = Parameters<Commands['run']>[0]
/** How a command's changes end. */
type Settling = Pick<Command, 'dryRun' | 'readsNotLanded'>

/** How what a command writes is held back. */
export interface Holding extends AsyncDisposable {
  /** Undefined if the command may write nowhere. */
  readonly layer: Layer | undefined
  readonly way: LayerWay
  /** What is known of the changes of a command that has ended, once they landed or did not. */
  settle(outcome: CommandOutcome): Promise<CommandOutcome>
}

/** Whether what a command of this call writes can be held back. */
export async function canHold(reach: Reach, isolation: Isolation): Promise<boolean> {
  const means = isolation.hold === 'never' ? undefined : isolation.find()
  return means !== undefined && (await findWay(reach, means, isolation)) !== undefined
}

/** How what a command of this call writes can be held back: tried once for the same roots. */
async function findWay(reach: Reach, means: Means, isolation: Isolation): Promise<LayerWay | undefined> {
  const key = JSON.stringify(writableOf(reach))
  const known = isolation.ways.get(key) ?? tryWays(reach, means, isolation)
  isolation.ways.set(key, known)
  return await known
}

/**
 * Opens what holds the changes of a command back; undefined if it writes in force. Fails with `SANDBOX.UNAVAILABLE` if it must be held and
 * cannot be.
 */
export async function holdChanges(
  reach: Reach,
  command: Settling & Pick<Command, 'live'>,
  isolation: Isolation,
): Promise<Holding | undefined> {
  const { dryRun: isDry = false, live = false } = command
  const hold = findHold(reach, isolation)
  if (!isDry && (hold === undefined || !(await canHold(reach, isolation)))) {
    if (hold === 'required') throw notHeld()
    return undefined
  }
  const means = isolation.require()
  const way = (await findWay(reach, means, isolation)) ?? 'overlay'
  // A copy is of the time when it was made, and what goes on has to see what others change.
  if (live && way === 'copy') {
    if (hold === 'required') throw notHeld()
    return undefined
  }
  return await openHolding(reach, command, { isolation, way })
}

/** The same, in the given way. */
export async function openHolding(
  reach: Reach,
  { dryRun: isDry = false, readsNotLanded = false }: Settling,
  { isolation, way }: { isolation: Isolation; way: LayerWay },
): Promise<Holding> {
  const means = isolation.require()
  const { user } = means
  const layer = await openLayerOver(reach, means, { isolation, way })
  const mayRead = (path: string) => {
    const stat = user.other ? lstatSync(path, { throwIfNoEntry: false }) : undefined
    return !user.other || (stat !== undefined && mayUse(stat, user, 4))
  }
  return {
    layer,
    way,
    async settle(outcome) {
      if (isDry) return { ...outcome, changes: ((await layer?.read()) ?? []).map(toEffect) }
      const settled = await settleChanges({ layer, outcome, reach, mayRead })
      if (settled.notLanded !== undefined && !readsNotLanded && outcome.ended === 'exit')
        throw settled.notLanded
      return { ...outcome, ...settled }
    },
    [Symbol.asyncDispose]: async () => layer?.[Symbol.asyncDispose](),
  }
}

function findHold(reach: Reach, isolation: Isolation): Hold | undefined {
  if (isolation.hold === 'always') return 'required'
  return reach.hold ?? (isolation.hold === 'auto' ? 'preferred' : undefined)
}

async function tryWays(reach: Reach, { user }: Means, { layers }: Isolation): Promise<LayerWay | undefined> {
  const roots = writableOf(reach)
  if (roots.length === 0 || (await layers.canOpen({ roots, user }, 'overlay'))) return 'overlay'
  return (await layers.canOpen({ roots, user }, 'copy')) ? 'copy' : undefined
}

/**
 * Whether a command in which something failed because of what an overlay cannot do may run again: it did nothing but what is dropped with its layer, and reads what it
 * read before.
 */
export function mayRunAgain(reach: Reach, command: Command, { stdout, stderr }: CommandOutcome): boolean {
  const isApart = command.dryRun === true || reach.profile.hosts.length === 0
  const isKept = stdout.artifact !== undefined || stderr.artifact !== undefined
  return isApart && !isKept && typeof command.stdin !== 'object'
}

/** What an overlay makes fail: by their names, or in the words of the system. */
const failures = String.raw`(?:EXDEV|EOVERFLOW)\b|(?:invalid )?cross-device link|value too large for defined data type`
const anywhere = new RegExp(failures, 'i')
/** As programs report an error: at the start of a line, or after a colon or an error's number. */
const reported = new RegExp(String.raw`(?:^|[:\]]\s*)(?:${failures})`, 'im')

/**
 * Whether a command says what an overlay makes fail: `EXDEV` if a folder that was there is renamed, and `EOVERFLOW` if a file of another
 * group is changed and Handrail is not root. Of one that ended well, only what it reports as an error counts: a later part of its line may have succeeded.
 */
export function wasLayerInTheWay(
  { layer, way }: Holding,
  { ended, exitCode, stdout, stderr }: CommandOutcome,
): boolean {
  if (layer === undefined || way === 'copy' || ended !== 'exit') return false
  const said = [stdout, stderr].map(joinCaptured).join('\n')
  return (exitCode === 0 ? reported : anywhere).test(said)
}

/** A layer over all that the call may write to. */
async function openLayerOver(
  reach: Reach,
  { user }: Means,
  { isolation, way }: { isolation: Isolation; way: LayerWay },
): Promise<Layer | undefined> {
  const roots = writableOf(reach)
  return roots.length === 0 ? undefined : await isolation.layers.open({ roots, user }, way, reach.signals())
}

function writableOf({ profile }: Reach): readonly string[] {
  return toProfilePlaces(profile.readRoots, profile.writeRoots).writable
}

function notHeld(): ToolFailure {
  return noSandbox(
    'no_backend',
    'what a command writes cannot be held back here, and it has to be. "handrail doctor" says why.',
  )
}
