/** What something is, or was. */
export type Kind = 'file' | 'directory' | 'link' | 'special' | 'none'

/** What a command made of one path, as its layer has it. */
export interface Change {
  /** The root that was overlaid, links resolved. */
  readonly root: string
  /** Relative to that root. */
  readonly path: string
  /** What is there in the layer; `none` if the command removed it. */
  readonly kind: Kind
  /** What is there without the layer. A directory that was there counts as changed only if it is another one, or has another mode. */
  readonly had: Kind
  /** In the layer, if there is something: permission bits without set-id and sticky ones. */
  readonly mode: number
  /** Without the layer, if the same kind of thing is there. */
  readonly modeBefore?: number
  /** Whether a changed file holds what it held before. */
  readonly sameContent?: boolean
  /** Bytes of a file; 0 for all else. */
  readonly size: number
  /** What a link leads to. */
  readonly target?: string
}
