/** What one call may touch: grant ∩ manifest ∩ policy. Empty lists mean nothing. */
export interface Profile {
  readonly readRoots: readonly string[]
  readonly writeRoots: readonly string[]
  readonly hosts: readonly string[]
  readonly executables: readonly string[]
  readonly browser: boolean
  readonly tmp: boolean
  readonly secrets: readonly string[]
  readonly timeoutMs: number
  readonly maxBytesIn: number
  readonly maxBytesOut: number
  /** Digest of all of the above in canonical JSON. */
  readonly digest: string
}
