import type { BeginRecord, EndRecord, NoteRecord } from './evidence.ts'
import type { ToolResult } from './base/result.ts'
import type { Changes, Entry } from './store.ts'

/** The begin of a call on its way into the store. */
export type BeginEntry = Entry & { record: BeginRecord }

/** The evidence of a runtime, as the pipeline uses it. */
export interface Evidence {
  readonly writer: string
  /** Writes a begin, with what changes with it. Resolves when it is durable. */
  begin(begin: BeginEntry, changes?: Changes): Promise<void>
  /** Writes the end of a call that an agent runs itself, and that began in any process. Rejects if the store does not take it; nothing is kept then. */
  endObserved(begin: BeginEntry, end: { record: EndRecord; body: string }, result: ToolResult): Promise<void>
  /** Writes a begin that the caller does not wait for; it is durable at the latest with the next awaited record. */
  beginLazily(begin: BeginEntry): void
  /**
   * Writes what belongs together in one transaction. Resolves when it is durable; undefined if it is written already, by a store that waits for
   * nothing. Rejects when the store does not take it; the end of a call that was begun, and what it spent, is then kept, and written as soon as
   * the store takes it.
   */
  end(records: readonly Entry[], result: ToolResult, changes?: Changes): Promise<void> | undefined
  /** Writes a note that the caller does not wait for. */
  note(record: NoteRecord): void
  /** Writes a note together with what it tells of. Resolves when it is durable. */
  tell(record: NoteRecord, changes: Changes): Promise<void>
  /**
   * Writes that the tool of a call has ended which was answered before that, and what it spent. Rejects when the store does not take it; it is
   * kept and written again like an end.
   */
  endLate(record: NoteRecord, changes?: Changes): Promise<void>
  /** Resolves when everything handed over so far is durable. */
  flush(): Promise<void>
  close(): Promise<void>
}
