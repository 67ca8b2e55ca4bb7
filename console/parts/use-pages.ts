import { useSignal, type Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ask } from '../api.ts'
import { messageOf } from '../../src/kit/text/message-of.ts'

/** A list that is loaded page after page, the newest first. */
export interface Pages<Row> {
  /** Undefined until the first page is there. */
  readonly rows: Signal<readonly Row[] | undefined>
  readonly fault: string | undefined
  readonly isLoading: boolean
  /** Loads the first page anew. */
  readonly again: () => void
  /** Changes the rows that are there, and those of a first page that is on its way: it may have been read before. */
  readonly change: (how: (rows: readonly Row[]) => readonly Row[]) => void
  /** Loads the next page, once at a time. Undefined if there is none. */
  readonly more: (() => void) | undefined
}

/** A page may have nothing and yet a next one: so many rows are looked for before the person has to ask for more. */
const fewRows = 50
const mostEmpty = 40

/**
 * Loads a list anew whenever its path changes. `laterRows` is how many rows each page but the first has, for a list that is scrolled far; by default
 * as many as the API says.
 */
export function usePages<Answer extends { readonly next?: string }, Row>(
  path: string,
  rowsOf: (answer: Answer) => readonly Row[],
  laterRows?: number,
): Pages<Row> {
  const ofLater = laterRows === undefined ? '' : `&limit=${laterRows}`
  const rows = useSignal<readonly Row[] | undefined>(undefined)
  const next = useSignal<string | undefined>(undefined)
  const fault = useSignal<string | undefined>(undefined)
  const isLoading = useSignal(false)
  /** Which load is the last one that was asked for: an answer of another one is of no use any more. */
  const asked = useRef(0)
  /** What happened since the first page was asked for that is on its way. */
  const changes = useRef<((rows: readonly Row[]) => readonly Row[])[]>([])
  const load = async (from?: string): Promise<void> => {
    const own = ++asked.current
    const isWanted = (): boolean => asked.current === own
    isLoading.value = true
    if (from === undefined) changes.current = []
    try {
      let before = from
      let found = 0
      for (let looks = 0; looks < mostEmpty; looks++) {
        const page = before === undefined ? '' : `${path.includes('?') ? '&' : '?'}before=${before}${ofLater}`
        // Each page begins behind the one before.
        // oxlint-disable-next-line no-await-in-loop
        const answer = await ask<Answer>(`${path}${page}`)
        if (!isWanted()) return
        const loaded = rowsOf(answer)
        rows.value =
          before === undefined
            ? changes.current.reduce((all, how) => how(all), loaded)
            : [...(rows.value ?? []), ...loaded]
        next.value = before = answer.next
        found += loaded.length
        if (before === undefined || found >= fewRows) break
      }
      fault.value = undefined
    } catch (error) {
      if (isWanted()) fault.value = messageOf(error)
    } finally {
      if (isWanted()) isLoading.value = false
    }
  }
  useEffect(() => void load(), [path])
  const before = next.value
  return {
    rows,
    fault: fault.value,
    isLoading: isLoading.value,
    again: () => void load(),
    change(how) {
      if (isLoading.value) changes.current.push(how)
      if (rows.value !== undefined) rows.value = how(rows.value)
    },
    more: before === undefined ? undefined : () => void (isLoading.value || load(before)),
  }
}
