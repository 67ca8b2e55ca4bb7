import type { Artifact, ContentBlock } from '../contract/base/result.ts'

/** The note of a reference that says: this artifact is the whole of the block before. */
export const wholeOutput = 'the whole output'

/** The note of a reference to what a program printed. */
export function noteOfOutput({ truncated }: Artifact): string {
  return truncated === true ? 'the start of the output; what came later was not kept' : wholeOutput
}

/** The artifact that is the whole of the block before this one; undefined if this is not such a reference. */
export function wholeOf(next: ContentBlock | undefined): Artifact | undefined {
  return next?.type === 'artifact_ref' && next.note === wholeOutput ? next.artifact : undefined
}
