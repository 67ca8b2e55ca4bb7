import { ToolFailure } from '../../contract/base/errors.ts'
import type { ArtifactSink } from '../../contract/services/sandbox.ts'
import { withoutBrokenEnd } from '../../kit/text/without-broken-end.ts'

/** How much a call, or a job, may still leave as artifacts. */
export interface ArtifactRoom {
  /** Takes it, or all that is left; returns what was taken. */
  take(bytes: number): number
  /** Takes all of it. Fails with `output_too_large` if there is less, and takes nothing then. */
  takeAll(bytes: number): void
}

export function createArtifactRoom(limit: number): ArtifactRoom {
  let left = limit
  return {
    take(bytes) {
      const taken = Math.min(bytes, left)
      left -= taken
      return taken
    },
    takeAll(bytes) {
      if (bytes > left) throw tooLarge(bytes, left, limit)
      left -= bytes
    },
  }
}

/** What a program prints, as far as there is room for it. The rest is not kept, and the artifact says so. */
export function boundSink(sink: ArtifactSink, room: ArtifactRoom): ArtifactSink {
  return {
    open(about) {
      const writer = sink.open(about)
      let truncated = false
      return {
        write(bytes) {
          if (truncated) return
          const taken = room.take(bytes.length)
          truncated = taken < bytes.length
          writer.write(truncated ? withoutBrokenEnd(bytes.subarray(0, taken)) : bytes)
        },
        async finish() {
          const artifact = await writer.finish()
          return truncated ? { ...artifact, truncated: true } : artifact
        },
        abandon: () => writer.abandon(),
      }
    },
  }
}

function tooLarge(bytes: number, left: number, limit: number): ToolFailure {
  return new ToolFailure({
    reason: 'output_too_large',
    message: `An artifact of ${bytes} bytes was not kept: a call leaves at most ${limit} bytes as artifacts, and this one has ${left} left. Return less at a time, or let the operator raise limits.artifactBytes.`,
  })
}
