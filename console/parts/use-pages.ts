import { useSignal, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask } from '../api.ts'
import { messageOf } from '../../src/kit/text/message-of.ts'

/** A list that is loaded page after page, the newest first. */
export interface Pages<Row> {
  /** Undefined until the first page is there. */
  readonly rows: Signal<readonly Row[] | undefined>
  readonly fault: string | undefined
  /** Loads the first page anew. */
  readonly again: () => void
  /** Loads the next page. Undefined if there is none. */
  readonly more: (() => void) | undefined
}

export function usePages<Answer extends { readonly next?: string }, Row>(
  path: string,
  rowsOf: (answer: Answer) => readonly Row[],
): Pages<Row> {
  const rows = useSignal<readonly Row[] | undefined>(undefined)
  const next = useSignal<string | undefined>(undefined)
  const fault = useSignal<string | undefined>(undefined)
  const load = async (before?: string): Promise<void> => {
    try {
      const answer = await ask<Answer>(before === undefined ? path : `${path}?before=${before}`)
      const loaded = rowsOf(answer)
      rows.value = before === undefined ? loaded : [...(rows.value ?? []), ...loaded]
      next.value = answer.next
      fault.value = undefined
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void load(), [])
  const before = next.value
  return {
    rows,
    fault: fault.value,
    again: () => void load(),
    more: before === undefined ? undefined : () => void load(before),
  }
}
