import type { PathEffect } from '../../../contract/base/effects.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { PastCall, PastCalls } from '../../../contract/services/history.ts'
import type { Files } from '../../../contract/services/sandbox.ts'
import { showPath } from '../base/show-path.ts'

/** Contents that are not kept, and lie at a path that changes: what was only moved is where it went. */
export type Sources = ReadonlyMap<string, string>

/** Where the contents come from that the history does not have. Fails with `not_kept` if one is nowhere. */
export async function findSources(
  changes: readonly PathEffect[],
  { calls, pastCalls, project }: { calls: readonly PastCall[]; pastCalls: PastCalls; project: string },
): Promise<Sources> {
  const lying = new Map(
    changes.flatMap(({ path, before }) => (before.kind === 'file' ? [[before.digest, path] as const] : [])),
  )
  const sources = new Map<string, string>()
  for (const { path, after } of changes) {
    if (after.kind !== 'file' || sources.has(after.digest)) continue
    if (await pastCalls.has(after.digest)) continue
    const source = lying.get(after.digest)
    if (source === undefined) {
      const isTooLarge = calls.some(({ unkept }) => unkept.includes(after.digest))
      throw notKept(showPath(project, path), isTooLarge)
    }
    sources.set(after.digest, source)
  }
  return sources
}

/** What had a digest, from its start. */
export function openContent(
  digest: string,
  { sources, pastCalls, files }: { sources: Sources; pastCalls: PastCalls; files: Files },
): AsyncIterable<Uint8Array> {
  const source = sources.get(digest)
  return source === undefined ? pastCalls.open(digest) : files.chunks(source)
}

function notKept(path: string, isTooLarge: boolean): ToolFailure {
  const why = isTooLarge ? 'was too much to be kept' : 'is not kept any more'
  return new ToolFailure({
    reason: 'not_kept',
    message: `What "${path}" held before ${why}, so nothing was taken back.`,
    data: { path },
  })
}
