/** What can be asked about code. */
export const operations = [
  'definition',
  'references',
  'hover',
  'document_symbols',
  'workspace_symbols',
  'implementation',
  'prepare_call_hierarchy',
  'incoming_calls',
  'outgoing_calls',
] as const

export type Operation = (typeof operations)[number]

/** What is asked: of a place, of a file, or of a name. Lines and columns count from 1, columns in UTF-16 units. */
export type Question =
  | {
      readonly operation: PlaceOperation
      readonly path: string
      readonly line: number
      readonly character: number
    }
  | { readonly operation: 'document_symbols'; readonly path: string }
  | { readonly operation: 'workspace_symbols'; readonly path: string | undefined; readonly query: string }

export type PlaceOperation = Exclude<Operation, 'document_symbols' | 'workspace_symbols'>

/** A place in a file. */
export interface Spot {
  readonly line: number
  readonly character: number
}

/** Something that was found: where it is, and what it is. */
export interface CodeItem extends Spot {
  /** Absolute. */
  readonly path: string
  readonly endLine?: number
  readonly endCharacter?: number
  readonly name?: string
  readonly kind?: string
  /** What it lies in, such as a class. */
  readonly container?: string
  /** The line. */
  readonly text?: string
  /** Of a caller or a callee: where the calls are. */
  readonly calls?: readonly Spot[]
}

/** What was found. */
export interface Answer {
  readonly items: readonly CodeItem[]
  /** What is said of the asked place. */
  readonly hover?: string
  readonly truncated: boolean
}
