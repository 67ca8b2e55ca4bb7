import { ToolFailure } from '../../contract/base/errors.ts'
import type { Artifact } from '../../contract/base/result.ts'
import type { ArtifactWriter } from '../../contract/services/sandbox.ts'
import type { ArtifactStore } from '../../contract/store.ts'
import { fileDigest } from '../../kit/json/digest.ts'

export interface MemoryArtifactsOptions {
  /** Bytes kept of all artifacts; the oldest are dropped. Default 256 MiB. */
  maxBytes?: number
}

/** Artifacts that live as long as their process. One that is larger than the whole cap is refused with `store_failed`. */
export function createMemoryArtifacts({
  maxBytes = 256 * 1024 * 1024,
}: MemoryArtifactsOptions = {}): ArtifactStore {
  const kept = new Map<string, { bytes: Uint8Array; at: number }>()
  let total = 0

  const remove = (key: string): void => {
    total -= kept.get(key)?.bytes.length ?? 0
    kept.delete(key)
  }
  const keep = (bytes: Uint8Array, about: { mimeType: string; name?: string }): Artifact => {
    if (bytes.length > maxBytes) throw tooLarge(maxBytes)
    const key = fileDigest(bytes)
    remove(key)
    kept.set(key, { bytes, at: Date.now() })
    total += bytes.length
    for (const oldest of kept.keys()) {
      if (total <= maxBytes) break
      remove(oldest)
    }
    return { digest: key, bytes: bytes.length, ...about }
  }
  const open = (about: { mimeType: string; name?: string }): ArtifactWriter => {
    let chunks: Uint8Array[] = []
    let bytes = 0
    return {
      write(chunk) {
        bytes += chunk.length
        if (bytes <= maxBytes) chunks.push(copy(chunk))
        else chunks = []
      },
      async finish() {
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        return keep(Buffer.concat(chunks), about)
      },
      async abandon() {
        chunks = []
      },
    }
  }
  return {
    open,
    put: async (bytes, about) => keep(copy(bytes), about),
    async get(key) {
      const found = kept.get(key)
      return found && copy(found.bytes)
    },
    async read(key, { offset, length }) {
      const bytes = kept.get(key)?.bytes
      return bytes && { bytes: copy(bytes.subarray(offset, offset + length)), total: bytes.length }
    },
    async prune({ at, mayGo }) {
      const old = [...kept].filter(([key, one]) => one.at < at && mayGo(key))
      for (const [key] of old) remove(key)
      return old.length
    },
  }
}

/** `slice` would share the memory of a Buffer. */
function copy(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes)
}

function tooLarge(maxBytes: number): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: `An artifact is larger than the ${maxBytes} bytes that are kept in memory. Keep artifacts on disk instead.`,
  })
}
