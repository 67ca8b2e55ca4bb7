import type { Artifact, ToolResult } from '../../../contract/base/result.ts'
import { toArtifactUri } from '../../../kit/result/artifact-uri.ts'

/** An artifact that a call of a client left. */
export interface KeptArtifact {
  readonly uri: string
  readonly artifact: Artifact
  /** Canonical name of the tool that was called. */
  readonly tool: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** What the calls of one client left, for as long as it is there. What is forgotten here can still be read by its URI. */
export interface KeptArtifacts {
  add(result: ToolResult): void
  /** The newest first. */
  list(): KeptArtifact[]
  /** Another one as soon as something was added. */
  version(): number
}

/** The oldest make room. */
const maxKept = 1_000

/** Nothing yet. */
export function createKeptArtifacts(): KeptArtifacts {
  const kept = new Map<string, KeptArtifact>()
  let version = 0
  return {
    add({ callId: call, tool, artifacts }) {
      if (artifacts.length === 0) return
      version++
      const at = Date.now()
      for (const artifact of artifacts) {
        const uri = toArtifactUri({ call, digest: artifact.digest })
        kept.set(uri, { uri, artifact, tool, at })
        const [oldest] = kept.keys()
        if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
      }
    },
    list: () => [...kept.values()].toReversed(),
    version: () => version,
  }
}
