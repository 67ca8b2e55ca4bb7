import type { ChainFault, Verification } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { chainLink } from '../../kit/json/digest.ts'
import { createChainWalk, type ChainWalk, type ChainWalkOptions } from './chain-walk.ts'
import type { KeyFiles } from './key-files.ts'
import { findMissingBody } from './find-missing-body.ts'
import { toFault } from './to-fault.ts'

export interface VerifyOptions {
  /** Default: all. */
  tenant?: string
  /** The folder of the keys that signed; without it, signatures are not checked. */
  keys?: Pick<KeyFiles, 'publicKeys' | 'anchors' | 'faults'>
}

/**
 * Reads every record of one tenant, or of all, and returns the first thing that is wrong: a record that was changed, removed,
 * inserted or moved, a cut-off end, a column or body that is not what its record says, an end without its begin, a begin that a
 * dead process left open, a signature that does not hold. Records that are written meanwhile are no fault.
 */
export function verifyEvidence(store: Store, { tenant, keys }: VerifyOptions = {}): Verification {
  const publicKeys = keys?.publicKeys()
  const damaged = findDamage(keys)
  // What a process kept in memory is gone with it, whatever was signed.
  const anchors = (store.durable ? keys?.anchors() : undefined) ?? []
  const tenants =
    tenant === undefined ? [...store.tenants(), ...anchors.map((each) => each.tenant)] : [tenant]
  const total = { records: 0, calls: 0 }
  let withoutResult = 0
  const signed = { records: 0, pending: 0, keys: new Set<string>() }
  const sum = (): Omit<Verification, 'ok'> => ({
    ...total,
    ...(withoutResult > 0 && { withoutResult }),
    ...(keys !== undefined && { signed: { ...signed, keys: [...signed.keys].sort() } }),
  })
  for (const name of new Set(tenants)) {
    const known = anchors.filter((each) => each.tenant === name)
    const { walk, fault } = verifyTenant(store, { tenant: name, keys: publicKeys, anchors: known })
    total.records += walk.records()
    total.calls += walk.calls()
    withoutResult += walk.withoutResult()
    const { records, pending, keys: used } = walk.signed()
    signed.records += records
    signed.pending += pending
    for (const id of used) signed.keys.add(id)
    if (fault !== undefined) return { ok: false, ...sum(), fault: explain(fault, damaged) }
  }
  const fault = findForgery(store) ?? damaged
  return fault === undefined ? { ok: true, ...sum() } : { ok: false, ...sum(), fault }
}

/** What stands beside the chains and was not written by Handrail. */
function findForgery(store: Store): ChainFault | undefined {
  const [first, ...others] = store.examine()
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return toFault({ tenant: '', sequence: 0, call: '' }, 'forged', `In the store, ${first}${more}.`)
}

function findDamage(keys: VerifyOptions['keys']): ChainFault | undefined {
  const [message] = keys?.faults() ?? []
  return message === undefined
    ? undefined
    : toFault({ tenant: '', sequence: 0, call: '' }, 'damaged_file', message)
}

/** A signature whose key cannot be read is not a wrong one. */
function explain(fault: ChainFault, damaged: ChainFault | undefined): ChainFault {
  return fault.problem === 'bad_signature' && damaged !== undefined ? damaged : fault
}

type Known = Pick<ChainWalkOptions, 'tenant' | 'keys' | 'anchors'>

function verifyTenant(store: Store, known: Known): { walk: ChainWalk; fault: ChainFault | undefined } {
  const { tenant } = known
  const head = store.head(tenant)
  const walk = createChainWalk({
    ...known,
    anchors: head === undefined ? known.anchors : [...known.anchors, head],
    start: store.durable ? { sequence: 0, hash: '' } : undefined,
    findMoved: (record, previous) => findMoved(store, { ...record, previous }),
  })
  for (const record of store.records({ tenant })) {
    const fault = walk.add(record)
    if (fault !== undefined) return { walk, fault }
  }
  const signed = Math.max(0, ...known.anchors.map(({ sequence }) => sequence))
  const fault =
    verifyEnd(store, { tenant, from: Math.max(head?.sequence ?? 0, signed), walk }) ??
    findOpen(store, tenant, walk) ??
    verifyBodies(store, tenant, walk)
  return { walk, fault }
}

/** Others may have written since, so the end lies between the head of then and the head of now. */
function verifyEnd(
  store: Store,
  { tenant, from, walk }: { tenant: string; from: number; walk: ChainWalk },
): ChainFault | undefined {
  const reached = walk.reached()
  const to = store.head(tenant)?.sequence ?? 0
  if (from <= reached && reached <= to) return undefined
  const end = reached > to ? to : Math.max(from, to)
  return toFault(
    { tenant, sequence: Math.min(reached, to) + 1, call: '' },
    'truncated',
    `The chain ends at ${reached}, and ${end === to ? 'the store says' : 'a signature says'} that it ends at ${end}: records were cut off or added.`,
  )
}

/** Others may prune meanwhile; a store that does not count tells nothing. */
function verifyBodies(store: Store, tenant: string, walk: ChainWalk): ChainFault | undefined {
  const pruned = store.head(tenant)?.bodiless
  const bodiless = walk.bodiless()
  if (pruned === undefined || bodiless <= pruned) return undefined
  return findMissingBody(store, { tenant, bodiless, pruned })
}

/** The first begin that a dead process left open. */
function findOpen(store: Store, tenant: string, walk: ChainWalk): ChainFault | undefined {
  const open = walk.open()
  if (open.size === 0) return undefined
  for (const orphan of store.orphans()) {
    const sequence = orphan.tenant === tenant ? open.get(orphan.call) : undefined
    if (sequence === undefined) continue
    const message = `The call "${orphan.call}" began at ${sequence} and its process is gone; recovery has not closed it yet.`
    return toFault({ tenant, sequence, call: orphan.call }, 'open_begin', message)
  }
  return undefined
}

/** So many records after a broken link are looked at for the one that belongs there. */
const moveWindow = 1000

function findMoved(
  store: Store,
  { tenant, sequence, previous }: { tenant: string; sequence: number; previous: string },
): boolean {
  for (const { text, hash } of store.records({ tenant, after: sequence, limit: moveWindow }))
    if (chainLink(previous, text) === hash) return true
  return false
}
