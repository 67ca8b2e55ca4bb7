import { ToolFailure } from '../../contract/base/errors.ts'
import type { PastCall, PastCalls } from '../../contract/services/history.ts'
import type { CallHistory, History } from '../../contract/history.ts'
import type { CallScope } from '../state/scope.ts'
import { findParts } from './find-parts.ts'
import { listUndoable } from './list-undoable.ts'

/** What earlier calls made of files, as far as this caller may take it back. `own` is the history of the call itself. */
export function openPastCalls({ tenant, session }: CallScope, own: CallHistory | undefined): PastCalls {
  const { principal } = session
  const history = tenant.history ?? off
  const isOurs = (call: PastCall) => tenant.operatedBy === 'operator' || call.actor === principal.actor
  /** Contents of other calls stay closed. */
  const opened = new Set<string>()
  const list = async (call: string): Promise<PastCall[]> =>
    (await history.list({ tenant: principal.tenant, call })).slice(0, 1)
  /** A call that changed files itself, or those that it made as parts of itself. */
  const findCall = async (call: string): Promise<readonly PastCall[]> => {
    const own = await list(call)
    const parts = own.length > 0 ? [] : findParts(call, principal.tenant, tenant.store)
    const found = [...own, ...(await Promise.all(parts.map(list))).flat()]
    if (found.length === 0 || !found.every(isOurs)) throw unknownCall(call, history.days)
    return found
  }
  const findOfSession = async (): Promise<readonly PastCall[]> => {
    const calls = await listUndoable(history, { tenant: principal.tenant, session: session.id })
    return calls.filter(isOurs)
  }
  return {
    async find(wish) {
      const found =
        wish === 'session'
          ? await findOfSession()
          : (await Promise.all([...new Set(wish.calls)].map((call) => findCall(call)))).flat()
      const calls = [...new Map(found.map((each) => [each.call, each])).values()].toSorted((one, other) =>
        one.call < other.call ? 1 : -1,
      )
      for (const { effects } of calls)
        for (const { before } of effects) if (before.kind === 'file') opened.add(before.digest)
      return calls
    },
    has: async (digest) => opened.has(digest) && history.has(principal.tenant, digest),
    open(digest) {
      if (opened.has(digest)) return history.read(principal.tenant, digest)
      throw new TypeError(`No call that was looked for had a file with the digest "${digest}".`)
    },
    takesBack(calls) {
      own?.takesBack(calls)
    },
    tookBack: async () => own?.tookBack(),
  }
}

const switchedOff = (): never => {
  throw new ToolFailure({
    reason: 'service_missing',
    message:
      'What calls replace or remove is not kept here, so no call can be taken back: "undo" is off, or the store is not on disk. Ask the operator.',
  })
}

const off: History = {
  place: '',
  days: 0,
  open: () => switchedOff(),
  close: async () => {},
  list: async () => switchedOff(),
  has: async () => switchedOff(),
  read: () => switchedOff(),
}

/** The same for one that is not there and for one that is another's. */
function unknownCall(call: string, days: number): ToolFailure {
  return new ToolFailure({
    reason: 'unknown_call',
    message: `No call "${call}" of this caller changed files, or what it changed is not kept any more: that is kept for ${days} days at most, and less if there is much. Nothing was taken back.`,
    data: { call },
  })
}
