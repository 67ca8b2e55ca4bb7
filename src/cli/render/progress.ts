import type { StoredRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { countOf } from './count-of.ts'
import { showLine } from '../base/show-safely.ts'

/** Tells a person at a terminal how far long work is, in one line on the standard error output, which goes when the work ends. */
export interface Progress {
  show(text: string): void
  end(): void
}

export function startProgress(): Progress {
  let isShown = false
  const write = (text: string): void => {
    if (process.stderr.isTTY) process.stderr.write(`\r${text}\x1b[K`)
  }
  return {
    show(text) {
      isShown = true
      write(showLine(text))
    },
    end() {
      if (isShown) write('')
    },
  }
}

/** How often it is told. Less work than that is over at once. */
const recordsEach = 1_000

/** Tells how many records of a store some work has read. */
export async function tellReads<T>(
  store: Store,
  doing: string,
  work: (told: Store) => T | Promise<T>,
): Promise<T> {
  const progress = startProgress()
  let count = 0
  const records = function* (...query: Parameters<Store['records']>): Generator<StoredRecord> {
    for (const record of store.records(...query)) {
      if (++count % recordsEach === 0) progress.show(`${doing}: ${countOf(count, 'record')} read`)
      yield record
    }
  }
  try {
    return await work({ ...store, records })
  } finally {
    progress.end()
  }
}
