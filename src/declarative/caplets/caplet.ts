import type { Json, JsonObject } from '../../contract/base/json.ts'

/** A file of a package. */
export interface CapletFile {
  /** From the folder of the package on, with `/`. */
  readonly path: string
  readonly size: number
  /** SHA-256, hex. */
  readonly sha256: string
  readonly executable?: boolean
}

/** A call of the packed tool, and what has to come of it. */
export interface CapletTest {
  readonly name: string
  readonly input: JsonObject
  /** What lies in the project of the call, by path. Default: nothing. */
  readonly files?: Readonly<Record<string, string>>
  /** One of them, or more: the data, the text of the content, the reason of the error. */
  readonly expect: { readonly data?: Json; readonly content?: string; readonly error?: string }
}

/** What the author of a caplet writes: `caplet.json` in its folder. */
export interface CapletSource {
  $schema?: string
  /** As a file of declared tools has it. */
  readonly tool: JsonObject
  /** What its program may read: `project`, `tmp`, or absolute paths. */
  readonly read: readonly string[]
  /** What it may write as well. */
  readonly write: readonly string[]
  readonly tests: readonly CapletTest[]
}

/** What a package says of itself: all of it is signed. */
export interface CapletManifest extends Omit<CapletSource, '$schema'> {
  readonly format: 1
  /** The public key of the publisher: 32 bytes of Ed25519, base64url. Absent: unsigned. */
  readonly publisher?: string
  readonly files: readonly CapletFile[]
}

/** `caplet.json` in a package, its first file. */
export interface SignedCaplet {
  readonly manifest: CapletManifest
  /** Base64url. */
  readonly signature?: string
}
