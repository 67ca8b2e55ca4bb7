import type { Call } from '../../contract/base/call.ts'
import { toRawId } from '../call/to-call.ts'
import type { Endings } from '../state/endings.ts'

/** Aborts those of these calls that have this id, of Handrail or of the provider. Says whether there was one. */
export function abortCalls(
  running: Iterable<Call>,
  { aborted, listeners }: Endings,
  { id, reason }: { id: string; reason: string | undefined },
): boolean {
  const found = [...running].filter((call) => call.id === id || call.toolCallId === toRawId(id))
  for (const call of found) {
    aborted.set(call.id, reason)
    for (const listener of listeners) listener(call.id)
  }
  return found.length > 0
}
