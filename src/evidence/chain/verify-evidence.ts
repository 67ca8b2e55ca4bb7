import type { ChainIssue, Verification } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { chainLink } from '../../kit/json/digest.ts'
import { createChainWalk, type ChainWalk, type ChainWalkOptions } from './chain-walk.ts'
import type { KeyFiles } from './key-files.ts'
import { findMissingBody } from './find-missing-body.ts'
import { toIssue } from './to-issue.ts'

export interface VerifyOptions {
  /** Default: all. */
  tenant?: string
  /** The folder of the keys that signed; without it, signatures are not checked. */
  keys?: Pick<KeyFiles, 'publicKeys' | 'anchors' | 'issues'>
  /** Told now and then how many records were held against their chains by now. */
  onProgress?: (records: number) => void
}

/** So many records lie between two words of progress. */
const perWord = 10_000

/**
 * Reads every record of one tenant, or of all, and returns the first thing that is wrong: a record that was changed, removed,
 * inserted or moved, a cut-off end, a column or body that is not what its record says, an end without its begin, a begin that a
 * dead process left open, a signature that does not hold. Records that are written meanwhile are no issue.
 */
export function verifyEvidence(store: Store, { tenant, keys, onProgress }: VerifyOptions = {}): Verification {
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
    const { walk, issue } = verifyTenant(store, {
      tenant: name,
      keys: publicKeys,
      anchors: known,
      onProgress: (records) => onProgress?.(total.records + records),
    })
    total.records += walk.records()
    total.calls += walk.calls()
    withoutResult += walk.withoutResult()
    const { records, pending, keys: used } = walk.signed()
    signed.records += records
    signed.pending += pending
    for (const id of used) signed.keys.add(id)
    if (issue !== undefined) return { ok: false, ...sum(), issue: explain(issue, damaged) }
  }
  const issue = findForgery(store) ?? damaged
  return issue === undefined ? { ok: true, ...sum() } : { ok: false, ...sum(), issue }
}

/** What stands beside the chains and was not written by Handrail. */
function findForgery(store: Store): ChainIssue | undefined {
  const [first, ...others] = store.examine()
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return toIssue({ tenant: '', sequence: 0, call: '' }, 'forged', `In the store, ${first}${more}.`)
}

function findDamage(keys: VerifyOptions['keys']): ChainIssue | undefined {
  const [message] = keys?.issues() ?? []
  return message === undefined
    ? undefined
    : toIssue({ tenant: '', sequence: 0, call: '' }, 'damaged_file', message)
}

/** A signature whose key cannot be read is not a wrong one. */
function explain(issue: ChainIssue, damaged: ChainIssue | undefined): ChainIssue {
  return issue.problem === 'bad_signature' && damaged !== undefined ? damaged : issue
}

type Known = Pick<ChainWalkOptions, 'tenant' | 'keys' | 'anchors'> & { onProgress: (records: number) => void }

function verifyTenant(store: Store, known: Known): { walk: ChainWalk; issue: ChainIssue | undefined } {
  const { tenant } = known
  const head = store.head(tenant)
  const walk = createChainWalk({
    ...known,
    anchors: head === undefined ? known.anchors : [...known.anchors, head],
    start: store.durable ? { sequence: 0, hash: '' } : undefined,
    findMoved: (record, previous) => findMoved(store, { ...record, previous }),
  })
  for (const record of store.records({ tenant })) {
    const issue = walk.add(record)
    if (issue !== undefined) return { walk, issue }
    if (walk.records() % perWord === 0) known.onProgress(walk.records())
  }
  const signed = Math.max(0, ...known.anchors.map(({ sequence }) => sequence))
  const issue =
    verifyEnd(store, { tenant, from: Math.max(head?.sequence ?? 0, signed), walk }) ??
    findOpen(store, tenant, walk) ??
    verifyBodies(store, tenant, walk)
  return { walk, issue }
}

/** Others may have written since, so the end lies between the head of then and the head of now. */
function verifyEnd(
  store: Store,
  { tenant, from, walk }: { tenant: string; from: number; walk: ChainWalk },
): ChainIssue | undefined {
  const reached = walk.reached()
  const to = store.head(tenant)?.sequence ?? 0
  if (from <= reached && reached <= to) return undefined
  const end = reached > to ? to : Math.max(from, to)
  return toIssue(
    { tenant, sequence: Math.min(reached, to) + 1, call: '' },
    'truncated',
    `The chain ends at ${reached}, and ${end === to ? 'the store says' : 'a signature says'} that it ends at ${end}: records were cut off or added.`,
  )
}

/** Others may prune meanwhile; a store that does not count tells nothing. */
function verifyBodies(store: Store, tenant: string, walk: ChainWalk): ChainIssue | undefined {
  const pruned = store.head(tenant)?.bodiless
  const bodiless = walk.bodiless()
  if (pruned === undefined || bodiless <= pruned) return undefined
  return findMissingBody(store, { tenant, bodiless, pruned })
}

/** The first begin that a dead process left open. */
function findOpen(store: Store, tenant: string, walk: ChainWalk): ChainIssue | undefined {
  const open = walk.open()
  if (open.size === 0) return undefined
  for (const orphan of store.orphans()) {
    const sequence = orphan.tenant === tenant ? open.get(orphan.call) : undefined
    if (sequence === undefined) continue
    const message = `The call "${orphan.call}" began at ${sequence} and its process is gone; recovery has not closed it yet.`
    return toIssue({ tenant, sequence, call: orphan.call }, 'open_begin', message)
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
