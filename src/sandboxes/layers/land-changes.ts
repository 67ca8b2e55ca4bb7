import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { EffectHistory, PathEffect } from '../../contract/base/effects.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Change } from './change.ts'
import type { LandingItem, Target } from './landing/item.ts'
import { land, type LandingWay } from './landing/land.ts'
import { changedSince } from './landing/landing-failure.ts'
import { wasSetBack, type Moment } from './landing/moment.ts'
import { findSwapped } from './swapped-folders.ts'
import type { InLayer } from './layer-contents.ts'

/** What landed. */
export interface Landed {
  /** Each folder before what is in it; empty without a history. */
  readonly effects: readonly PathEffect[]
  /** Sockets and pipes that the command made, which never land. */
  readonly leftOut: readonly string[]
}

/** How the changes of a layer land. */
export interface LandingRequest {
  readonly history?: EffectHistory
  readonly signals?: readonly AbortSignal[]
  /** Since when a folder must stand where it stands; default since the command began. */
  readonly since?: Moment
  /** Since when, in nanoseconds of `ctime`, no other program may have changed what is there; default the same. */
  readonly sinceOf?: (change: Change) => bigint
}

/** Where a layer is, and since when. */
export interface Landable {
  readonly inLayer: InLayer
  readonly since: Moment
  /** Device and inode of each root when the command began. */
  readonly identities: ReadonlyMap<string, string>
  /** The same of each folder above a change, when the changes were read. */
  readonly folders: ReadonlyMap<string, string>
  readonly owner: LandingWay['owner']
  readonly afterwards: LandingWay['afterwards']
}

/** Puts these changes in force, all or none: see `land`. Fails with `special_file` if the command made a device. */
export async function landChanges(
  changes: readonly Change[],
  { inLayer, since, identities, folders, owner, afterwards }: Landable,
  { history, signals = [], sinceOf = () => since.ctime }: LandingRequest,
): Promise<Landed> {
  const leftOut: string[] = []
  const items: LandingItem[] = []
  const replaced = changes.find(({ had }) => had !== 'none')
  if (replaced !== undefined && wasSetBack(since)) throw clockWasSet(join(replaced.root, replaced.path))
  const swapped = findSwapped(changes, { since: since.ctime, identities, folders })
  if (swapped !== undefined) throw changedSince(swapped)
  for (const change of changes) {
    const { root, path, had } = change
    const to = toTarget(change, inLayer)
    if (to === undefined) leftOut.push(join(root, path))
    if (to === undefined && had === 'none') continue
    items.push({ root, path, to: to ?? { kind: 'none' }, expect: { had, unchangedSince: sinceOf(change) } })
  }
  return { effects: await land(items, { owner, history, signals, afterwards }), leftOut }
}

/** Undefined for what never lands. */
function toTarget(change: Change, inLayer: InLayer): Target | undefined {
  const { kind, mode, target = '' } = change
  const at = inLayer(change)
  switch (kind) {
    case 'none':
      return { kind }
    case 'link':
      return { kind, target, owner: ownerAt(at) }
    case 'file':
      return { kind, mode, from: at, keepTimes: true }
    case 'directory': {
      const { atimeMs, mtimeMs } = lstatSync(at)
      return { kind, mode, times: { atimeMs, mtimeMs }, owner: ownerAt(at) }
    }
    case 'special': {
      const stat = lstatSync(at)
      if (stat.isFIFO() || stat.isSocket()) return undefined
      throw isDevice(join(change.root, change.path))
    }
  }
}

function ownerAt(at: string): { uid: number; gid: number } {
  const { uid, gid } = lstatSync(at)
  return { uid, gid }
}

function isDevice(path: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'special_file',
    message: `The command made the device "${path}", so nothing of what it wrote was kept. Run it without that.`,
    data: { path },
  })
}

function clockWasSet(path: string): ToolFailure {
  return new ToolFailure({
    reason: 'stale_preview',
    message: `The clock of this machine was set back while the command ran, so it is not known whether another program changed "${path}". Nothing was changed. Run the command again.`,
    data: { path },
  })
}
