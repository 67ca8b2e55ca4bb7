import type { CallRequest } from '../../contract/call-request.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import type { CallScope } from '../state/scope.ts'
import { recallResult } from './find-earlier.ts'

/** Results by the ids that calls were handed in with. */
export type BegunResults = ReadonlyMap<CallRequest['id'], ToolResult>

/**
 * The results of calls that this session has begun before under the same id, in whatever process: they are not run again. Of one that was cut off the
 * result says so, unless it changes nothing: such a call is made again, and so is one that waited for a person.
 */
export function findBegun(calls: readonly CallRequest[], scope: CallScope): BegunResults {
  const { tenant, session } = scope
  const wanted = new Map(calls.flatMap(({ id }) => (id === undefined ? [] : [[String(id), id] as const])))
  const found = new Map<CallRequest['id'], ToolResult>()
  const of = { tenant: session.principal.tenant, session: session.id, kind: 'begin' as const }
  for (const { text } of tenant.store.records({ ...of, newestFirst: true })) {
    const { toolCallId, call, tool } = readRecord(text, 'begin')
    const id = toolCallId === undefined ? undefined : wanted.get(toolCallId)
    if (id === undefined || found.has(id)) continue
    const result = recallResult(call, id, scope)
    if (result !== undefined && !mayRepeat(result, tool, scope)) found.set(id, result)
    wanted.delete(String(id))
    if (wanted.size === 0) break
  }
  return found
}

function mayRepeat({ outcome }: ToolResult, tool: string, { session }: CallScope): boolean {
  if (outcome !== 'unknown') return outcome === 'waiting'
  return session.find(tool, 'canonical')?.definition.permission === 'readonly'
}
