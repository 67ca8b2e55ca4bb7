import type { StoredRecord } from '../contract/evidence.ts'
import type { Runtime } from '../contract/runtime.ts'
import { trackApprovals } from '../kit/approvals/track-approvals.ts'
import { seenPauses } from './api/stops.ts'
import { readCursor, toCursorText } from './base/cursor.ts'
import { sees, tenantsOf, type Visitor } from './base/roles.ts'

/** The streams of events that are open. */
export interface EventStreams {
  /**
   * Server-Sent Events (WHATWG HTML): `record` for each record of the chains, with the place behind it as its id, `approval` for what became of
   * a question, `pauses` with all that is paused, whenever that changes, and `present` once all is told that waits and is paused now. With the last id that a client saw it is told all that came since, whatever ended or was restarted meanwhile.
   */
  open(visitor: Visitor, lastEventId: string | null): Response
  end(): void
}

/** How often the chains are looked at, which other processes write to as well. It costs one row of each tenant. */
const lookMs = 150
/** Keeps proxies from ending a silent stream. */
const heartbeatMs = 15_000
/** How soon a stream ends whose visit was ended. */
const standsMs = 1_000
/** Records that are told at a time, so that a long gap does not hold up the rest. */
const mostAtOnce = 500
/** Events that wait for a client to read them. It is cut off beyond, and connects anew with the last id that it saw. */
const mostUnread = 5_000

export function createEventStreams(runtime: Runtime): EventStreams {
  const ends = new Set<() => void>()
  return {
    open(visitor, lastEventId) {
      let end = (_wasRead?: boolean): void => {}
      const stream = new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const stop = follow(runtime, { visitor, lastEventId, controller })
            end = (isRead = true) => {
              stop(isRead)
              ends.delete(end)
            }
            ends.add(end)
          },
          cancel: () => end(false),
        },
        { highWaterMark: mostUnread },
      )
      return new Response(stream, {
        headers: {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store, no-transform',
          'x-accel-buffering': 'no',
        },
      })
    },
    end() {
      for (const end of ends) end()
    },
  }
}

interface Following {
  readonly visitor: Visitor
  readonly lastEventId: string | null
  readonly controller: ReadableStreamDefaultController<Uint8Array>
}

/** Returns what ends it, and the stream too if that is read. */
function follow(
  runtime: Runtime,
  { visitor, lastEventId, controller }: Following,
): (isRead?: boolean) => void {
  const { store } = runtime
  const places = new Map(readCursor(lastEventId) ?? [])
  const tenants = (): readonly string[] => tenantsOf(visitor, store.tenants())
  const isNew = lastEventId === null
  const headOf = (tenant: string): number => store.head(tenant)?.sequence ?? 0
  if (isNew) for (const tenant of tenants()) places.set(tenant, headOf(tenant))
  let isOver = false
  const stop = (isRead = true): void => {
    if (isOver) return
    isOver = true
    for (const timer of [looking, beating, standing]) clearInterval(timer)
    untrack()
    if (isRead) controller.close()
  }
  const write = (text: string): void => {
    if (isOver) return
    if ((controller.desiredSize ?? 0) <= 0) return stop()
    controller.enqueue(new TextEncoder().encode(text))
  }
  let toldPauses = '[]'
  const look = (): void => {
    const pauses = JSON.stringify(seenPauses(visitor, runtime.stops.pauses()))
    if (pauses !== toldPauses) write(`event: pauses\ndata: ${(toldPauses = pauses)}\n\n`)
    for (const tenant of tenants()) {
      // A tenant that is seen for the first time is told from its first record on.
      const after = places.get(tenant) ?? 0
      if (headOf(tenant) <= after) continue
      for (const record of store.records({ tenant, after, limit: mostAtOnce })) {
        places.set(tenant, record.sequence)
        write(`id: ${toCursorText(places)}\nevent: record\ndata: ${toData(record)}\n\n`)
      }
    }
  }
  const looking = setInterval(look, lookMs).unref()
  const beating = setInterval(write, heartbeatMs, ': still here\n\n').unref()
  const standing = setInterval(() => visitor.stands() || stop(), standsMs).unref()
  let untrack = (): void => {}
  // Where a client that loses the stream before the first record goes on, and what it counts times left from.
  write(`id: ${toCursorText(places)}\nevent: hello\ndata: {"at":${Date.now()}}\n\n`)
  untrack = trackApprovals(runtime, ({ event, approval }) => {
    if (sees(visitor, approval.tenant))
      write(`event: approval\ndata: ${JSON.stringify({ event, approval })}\n\n`)
  })
  look()
  write('event: present\ndata: {}\n\n')
  return stop
}

/** The record itself, which has no input and no result, and its place. */
function toData({ tenant, sequence, text }: StoredRecord): string {
  return `{"tenant":${JSON.stringify(tenant)},"sequence":${sequence},"record":${text}}`
}
