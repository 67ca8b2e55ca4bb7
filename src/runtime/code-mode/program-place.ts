import type { Json } from '../../contract/base/json.ts'
import type { DocumentChange } from '../../contract/documents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import { newId } from '../../kit/new-id.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** A program of a session as it is kept, from its first call on until it has ended. */
type StoredProgram = {
  /** What the ids of its calls begin with, and its random numbers follow from. */
  readonly id: string
  /** Digest of its code, keyed with the secret of the store. */
  readonly code: string
  /** When it was first started: what its clock shows. */
  readonly at: number
  /** The call that runs it, or ran it last, and the id that its caller gave that. */
  readonly call: string
  readonly toolCallId: string
}

/** Where a program is. */
export interface ProgramPlace {
  readonly id: string
  readonly at: number
  /** Whether it was begun before: calls of the same ids were perhaps made. */
  readonly goesOn: boolean
  /** Makes it durable that this call runs it. Rejects if the store does not take it. */
  keep(): Promise<void>
}

/**
 * The program of a call: the one that waited for a person or was cut off, if the session runs the same code again, else a new one. Those that have
 * ended are forgotten. Rejects with `program_taken` if the program that the call waited with went on in another call.
 */
export async function placeProgram(
  code: string,
  { call, goesOn }: Pick<Admitted, 'call' | 'goesOn'>,
  scope: CallScope,
): Promise<ProgramPlace> {
  const { tenant } = scope
  const { store } = tenant
  const digest = store.digest(code)
  const { id: me, toolCallId } = call
  const { open, ended } = sortPrograms(scope)
  const same = open
    .filter((each) => each.code === digest && (goesOn === undefined || each.call === goesOn))
    .filter((each) => each.toolCallId === toolCallId || !isOld(each, scope))
    .toSorted((one, other) => Number(other.toolCallId === toolCallId) - Number(one.toolCallId === toolCallId))
  for (const program of same) {
    const now = { ...program, call: me, toolCallId }
    if (await write([change(program, now, scope)], scope))
      return { id: program.id, at: program.at, goesOn: true, keep: () => Promise.resolve() }
  }
  if (goesOn !== undefined) throw taken()
  const program: StoredProgram = {
    id: newId('program', tenant.now()),
    code: digest,
    at: tenant.now(),
    call: me,
    toolCallId,
  }
  const forget = ended.map((each) => change(each, undefined, scope))
  return {
    id: program.id,
    at: program.at,
    goesOn: false,
    async keep() {
      // Of two calls that forget the same one, the second has nothing to forget.
      if (forget.length > 0) await write(forget, scope)
      await store.append([], { documents: [change(null, program, scope)] })
    },
  }
}

function taken(): ToolFailure {
  return new ToolFailure({
    reason: 'program_taken',
    message:
      'The program went on in another call meanwhile, such as one of another process. Nothing was done here: what it returned is the result of that call.',
  })
}

/** The programs of the session that may go on, and those that have ended. Of one that runs, neither is so. */
function sortPrograms(scope: CallScope): { open: StoredProgram[]; ended: StoredProgram[] } {
  const { tenant, session } = scope
  const open: StoredProgram[] = []
  const ended: StoredProgram[] = []
  const of = { tenant: session.principal.tenant, kind: 'program' as const, group: session.id }
  for (const { value } of tenant.store.documents(of)) {
    const program = value as unknown as StoredProgram
    const state = stateOf(program, scope)
    if (state === 'open') open.push(program)
    else if (state === 'ended') ended.push(program)
  }
  return { open, ended }
}

function stateOf({ call }: StoredProgram, { tenant, session }: CallScope): 'open' | 'ended' | 'running' {
  const last = (kind: 'begin' | 'end') => {
    // The newest first: most programs have just ended, and a store in memory is read through.
    const query = { tenant: session.principal.tenant, call, kind, newestFirst: true, limit: 1 }
    return tenant.store.records(query).next().value
  }
  const end = last('end')
  if (end !== undefined) {
    const { outcome } = readRecord(end.text, 'end')
    return outcome === 'waiting' || outcome === 'unknown' ? 'open' : 'ended'
  }
  const begin = last('begin')
  if (begin === undefined) return 'open'
  return tenant.store.lives(readRecord(begin.text, 'begin').writer) ? 'running' : 'open'
}

/** One that no person answered for in time is not gone on with by another call. */
function isOld({ call }: StoredProgram, { tenant, session }: CallScope): boolean {
  const records = [...tenant.store.records({ tenant: session.principal.tenant, call })]
  const last = Math.max(0, ...records.map(({ text }) => readRecord(text).at))
  return tenant.now() - last > tenant.limits.pendingApprovalMs
}

function change(
  was: StoredProgram | null,
  next: StoredProgram | undefined,
  { session }: CallScope,
): DocumentChange {
  const id = was?.id ?? next?.id ?? ''
  return {
    tenant: session.principal.tenant,
    kind: 'program',
    group: session.id,
    id,
    value: next as Json | undefined,
    was,
  }
}

/** False if another writer was faster. */
async function write(documents: readonly DocumentChange[], { tenant }: CallScope): Promise<boolean> {
  try {
    await tenant.store.append([], { documents })
    return true
  } catch (error) {
    if (isDocumentChanged(error)) return false
    throw error
  }
}
