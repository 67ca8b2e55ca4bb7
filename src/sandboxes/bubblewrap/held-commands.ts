import { lstatSync } from 'node:fs'
import type { ToolFailure } from '../../contract/base/errors.ts'
import type { CommandOutcome, Commands, Hold } from '../../contract/services/sandbox.ts'
import { joinCaptured } from '../../kit/text/show-captured.ts'
import type { Reach } from '../files/reach.ts'
import { noLayer } from '../layers/layer-failure.ts'
import { describeGround, type Ground } from '../layers/layer-ground.ts'
import type { LayerWay } from '../layers/layer-namespace.ts'
import type { Layer } from '../layers/layer.ts'
import { settleChanges } from '../layers/settle-changes.ts'
import { toEffect } from '../layers/to-effect.ts'
import { toProfilePlaces } from '../visible/profile-places.ts'
import type { Isolation, Means, TriedWay } from './isolation.ts'
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
  return means !== undefined && (await findWay(reach, means, isolation)).way !== undefined
}

/** How what a command of this call writes can be held back: tried once for the same roots, and again after a failure if what they stand on changed. */
async function findWay(reach: Reach, { user }: Means, isolation: Isolation): Promise<TriedWay> {
  const ground = { roots: writableOf(reach), user }
  const key = JSON.stringify(ground.roots)
  const known = await isolation.ways.get(key)
  if (known !== undefined && (known.way !== undefined || known.ground === describeGround(ground)))
    return known
  const tried = tryWays(ground, isolation)
  isolation.ways.set(key, tried)
  return await tried
}

/**
 * Opens what holds the changes of a command back; undefined if it writes in force. Fails with `SANDBOX.UNAVAILABLE`, and says why, if it must be held
 * and cannot be.
 */
export async function holdChanges(
  reach: Reach,
  command: Settling & Pick<Command, 'live'>,
  isolation: Isolation,
): Promise<Holding | undefined> {
  const { dryRun: isDry = false, live = false } = command
  const hold = isDry ? 'required' : findHold(reach, isolation)
  if (hold === undefined) return undefined
  const { way, hindrance } = await findWayFor({ isDry, live }, reach, isolation)
  if (way !== undefined) return await openHolding(reach, command, { isolation, way })
  if (hold === 'required') throw hindrance
  return undefined
}

/** How what this command writes can be held back; or why it cannot. */
async function findWayFor(
  { isDry, live }: { isDry: boolean; live: boolean },
  reach: Reach,
  isolation: Isolation,
): Promise<{ way: LayerWay; hindrance?: never } | { way: undefined; hindrance: ToolFailure }> {
  const hinder = (why: string) => ({ way: undefined, hindrance: noLayer(why) })
  if (!isDry && isolation.hold === 'never') return hinder('"hold" of the sandbox is "never"')
  const tried = await findWay(reach, isolation.require(), isolation)
  // A copy is of the time when it was made, and what goes on has to see what others change.
  return live && tried.way === 'copy' ? hinder('what goes on needs an overlay, and none can be made') : tried
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

async function tryWays(ground: Ground, { layers }: Isolation): Promise<TriedWay> {
  if (ground.roots.length === 0) return { way: 'overlay' }
  const described = describeGround(ground)
  const hindrance = await layers.findHindrance(ground, 'overlay')
  if (hindrance === undefined) return { way: 'overlay' }
  if ((await layers.findHindrance(ground, 'copy')) === undefined) return { way: 'copy' }
  return { way: undefined, hindrance, ground: described }
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
