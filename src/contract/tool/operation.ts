/** One thing a call would do to the outside. Paths are absolute and resolved; hosts are lower case. */
export type Operation =
  | { kind: 'fs.read'; path: string; recursive?: boolean }
  /**
   * `by` names what writes it if the plan did not: a program whose changes are held back until they may land. Nothing is left at the path if it is
   * `removed`.
   */
  | { kind: 'fs.write'; path: string; by?: 'program'; removed?: true }
  | { kind: 'process'; executable: string; argv: readonly string[]; cwd: string }
  | { kind: 'net'; host: string; url: string }
  | { kind: 'other'; resource: string }

/** What a person sees before saying yes. An approval is bound to its digest. */
export interface Preview {
  kind: 'diff' | 'argv' | 'host' | 'text'
  /** One line: what would happen to which thing. */
  title: string
  body: string
  /** Shown below the body: what is so now, and may be otherwise when the call runs. The approval is not bound to it. */
  asOfNow?: string
}
