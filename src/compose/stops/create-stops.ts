import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Aborted,
  AbortRequest,
  AbortScope,
  Pause,
  RunningCallRow,
  Stops,
} from '../../contract/base/stop.ts'
import type { Evidence } from '../../contract/evidence-log.ts'
import type { EventName, NoteRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { findRunning, findRunningCall, hasEnded } from '../../evidence/find-running.ts'
import { newId } from '../../kit/new-id.ts'
import { readQuestion } from '../../runtime/approvals/stored-question.ts'
import { describeScope, meetsScope } from '../../runtime/stops/meets-scope.ts'
import { createPauseBook, keepPause, type PauseBook } from '../../runtime/stops/pause-book.ts'
import { createWorkBook, type StoppedCall, type WorkBook } from '../../runtime/stops/work-book.ts'
import { createAbortOrders, type AbortOrder } from './abort-orders.ts'
import { checkStop } from './check-stop.ts'

/** What stops stand on. */
export interface StopSurroundings {
  readonly store: Store
  readonly evidence: Pick<Evidence, 'tell'>
  readonly announce: (note: NoteRecord) => void
  readonly redact: (text: string) => string
  readonly logError: (cause: unknown) => void
  /** Why a tenant is none, if it is none. */
  readonly findTenantIssue: (tenant: string) => string | undefined
  readonly now: () => number
}

/** The emergency stop, and what the pipeline asks of it. */
export interface RuntimeStops extends Pick<PauseBook, 'find'>, Pick<WorkBook, 'add'> {
  /** What a program may do. */
  readonly stops: Stops
  close(): void
}

/** Where what is said of no tenant is noted. */
const everywhere = 'local'

/** How long other processes are waited for, and how often it is looked. */
const [patienceMs, lookMs] = [10_000, 50]
/** A call that waits for its turn, or for a hook, is nowhere in the store yet: whether there is one elsewhere is known by its end. */
const unknownMs = 1_000

/** The stops of a runtime. */
export function createStops(around: StopSurroundings): RuntimeStops {
  const { store, evidence, now, redact } = around
  const pauses = createPauseBook(store, around.logError)
  const obey = ({ scope, by, reason, at }: AbortOrder): Promise<readonly StoppedCall[]> =>
    noteAborts(work.stop(scope, { reason, until: at }), { by, reason }, around)
  const orders = createAbortOrders(around, obey)
  const work = createWorkBook(store.durable ? () => orders.look() : undefined)
  const tell = async (pause: Pause, by: string, event: EventName): Promise<void> => {
    const holds = event === 'calls_paused'
    const note = toPauseNote(pause, { by, event, at: now() })
    await evidence.tell(note, { facts: [keepPause(pause, holds)] })
    around.announce(note)
  }
  const stops: Stops = {
    async pause(request) {
      checkStop(request, ['why'], around.findTenantIssue)
      const { by, why, ...scope } = request
      const at = now()
      const said = why === undefined ? {} : { why: redact(why) }
      const pause: Pause = { ...scope, ...said, by, at, id: newId('pause', at) }
      await tell(pause, by, 'calls_paused')
      return pause
    },
    async resume(id, by) {
      const pause = pauses.list().find((each) => each.id === id)
      if (pause !== undefined) await tell(pause, by, 'calls_resumed')
      return pause
    },
    pauses: (tenant) =>
      pauses
        .list()
        .filter((pause) => tenant === undefined || pause.tenant === undefined || pause.tenant === tenant)
        .map((pause) => ({ ...pause })),
    running: (tenant) => findRunning(store, tenant === undefined ? store.tenants() : [tenant]),
    async abort(request) {
      checkStop(request, ['call', 'session', 'reason'], around.findTenantIssue)
      const { by, reason, ...scope } = request
      const order: AbortOrder = {
        scope,
        by,
        at: now(),
        ...(reason !== undefined && { reason: redact(reason) }),
      }
      const here = (await obey(order)).map(({ call }) => call)
      const isDone = !store.durable || (scope.call !== undefined && here.length > 0)
      return isDone ? { calls: here, running: [] } : abortElsewhere(order, here, { ...around, orders })
    },
  }
  return {
    stops,
    find: (about) => pauses.find(about),
    add: (worker) => work.add(worker),
    close: () => work.close(),
  }
}

async function abortElsewhere(
  order: AbortOrder,
  here: readonly string[],
  { store, orders }: StopSurroundings & { readonly orders: ReturnType<typeof createAbortOrders> },
): Promise<Aborted> {
  const { scope } = order
  const meant = findMeant(scope, store)
  const isUnknown = scope.call !== undefined && meant.length === 0
  if (isUnknown && store.tenants().some((tenant) => hasEnded(store, { tenant, call: scope.call ?? '' })))
    return { calls: here, running: [] }
  await orders.give(order)
  const deadline = performance.now() + (isUnknown ? unknownMs : patienceMs)
  const ended = (): readonly string[] =>
    isUnknown
      ? store
          .tenants()
          .flatMap((tenant) =>
            hasEnded(store, { tenant, call: scope.call ?? '' }) ? [scope.call ?? ''] : [],
          )
      : meant.filter((each) => hasEnded(store, each)).map(({ call }) => call)
  const wanted = isUnknown ? 1 : meant.length
  while (ended().length < wanted && performance.now() < deadline) await sleep(lookMs)
  const gone = ended()
  return {
    calls: [...here, ...gone],
    running: meant.map(({ call }) => call).filter((call) => !gone.includes(call)),
  }
}

/** A call of another process. */
type CallElsewhere = Pick<RunningCallRow, 'tenant' | 'call'>

/** What other processes do and is meant: what began, and the call of this id if it waits for a person. */
function findMeant({ call, session, ...scope }: AbortScope, store: Store): readonly CallElsewhere[] {
  const tenants = scope.tenant === undefined ? store.tenants() : [scope.tenant]
  // Looked for first: it begins as its question goes.
  const asked = call === undefined ? undefined : findAskedCall(store, call)
  if (asked !== undefined && [undefined, asked.tenant].includes(scope.tenant)) return [asked]
  const running = call === undefined ? findRunning(store, tenants) : findRunningCall(store, tenants, call)
  return running.filter(
    (each) =>
      !each.here &&
      (session === undefined || each.session === session) &&
      meetsScope(scope, { ...each, source: undefined }),
  )
}

/** The call of this id, if it stands and waits for a person in another process that lives. */
function findAskedCall(store: Store, call: string): CallElsewhere | undefined {
  const asked = store
    .facts('approval')
    .map(readQuestion)
    .find((question) => question?.returns === 'held' && question.approval.request.callId === call)
  if (asked === undefined || asked.writer === store.writer || !store.lives(asked.writer)) return undefined
  return { tenant: asked.approval.tenant, call }
}

/** The calls end first, and then it is noted: an emergency waits for no disk. */
async function noteAborts(
  stopped: readonly StoppedCall[],
  { by, reason }: Pick<AbortRequest, 'by' | 'reason'>,
  { evidence, announce, now }: StopSurroundings,
): Promise<readonly StoppedCall[]> {
  for (const { tenant, session, call } of stopped) {
    const note = {
      kind: 'note' as const,
      event: 'call_aborted' as const,
      tenant,
      session,
      call,
      at: now(),
      actor: by,
      message: `${by} aborted the call ${call}${reason === undefined ? '' : `: ${reason}`}`,
    }
    await evidence.tell(note, {})
    announce(note)
  }
  return stopped
}

function toPauseNote(
  pause: Pause,
  { by, event, at }: { readonly by: string; readonly event: EventName; readonly at: number },
): NoteRecord {
  const { tenant, actor, server, tools, why, id } = pause
  const did = event === 'calls_paused' ? 'paused' : 'resumed'
  const because = why === undefined || did === 'resumed' ? '' : `: ${why}`
  const data = Object.entries({ tenant, for: actor, server, tools }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return {
    kind: 'note',
    event,
    tenant: tenant ?? everywhere,
    session: '',
    at,
    actor: by,
    message: `${by} ${did} ${describeScope(pause)} (${id})${because}`,
    data: { pause: id, ...Object.fromEntries(data) },
  }
}
