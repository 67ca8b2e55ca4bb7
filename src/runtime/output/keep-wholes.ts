import type { Artifact } from '../../contract/base/result.ts'
import type { ArtifactStore } from '../../contract/store.ts'
import { toArtifactUri } from '../../kit/result/artifact-uri.ts'
import { isMarked, markUntrusted } from '../../kit/text/mark-untrusted.ts'

/** Where the wholes of one result go that are shown in part, or not at all. */
export interface Wholes {
  /** Every artifact of the result, once. */
  readonly artifacts: Artifact[]
  /** Text of strangers is kept between marks, so that it is known as such wherever it is read. */
  put(bytes: Uint8Array | string, mimeType: string): Promise<Artifact>
  /** What `artifact.read` takes. */
  uriOf(artifact: Artifact): string
}

/** Whose result it is. */
export interface WholesOf {
  readonly call: string
  /** Artifacts that it has already. */
  readonly artifacts: readonly Artifact[]
  /** The tool, if what it says comes from strangers. */
  readonly stranger: string | undefined
}

/** The wholes of a result. */
export function keepWholes(
  store: Pick<ArtifactStore, 'put'>,
  { call, artifacts: given, stranger }: WholesOf,
): Wholes {
  const artifacts = [...given]
  const toMarked = (text: string): string =>
    stranger === undefined || isMarked(text) ? text : markUntrusted(text, stranger, 'a server elsewhere')
  return {
    artifacts,
    async put(bytes, mimeType) {
      const kept = typeof bytes === 'string' ? toMarked(bytes) : bytes
      const about = { mimeType: kept === bytes ? mimeType : 'text/plain' }
      const artifact = await store.put(typeof kept === 'string' ? Buffer.from(kept) : kept, about)
      if (!artifacts.some(({ digest }) => digest === artifact.digest)) artifacts.push(artifact)
      return artifact
    },
    uriOf: ({ digest }) => toArtifactUri({ call, digest }),
  }
}
