import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Files } from '../../../contract/services/sandbox.ts'

/**
 * Refuses with `stale_preview` when a path does not lead any more to where it led when the call was planned: a link
 * put there meanwhile must not take the call to another file.
 */
export async function checkPath(files: Files, path: string, purpose: 'read' | 'write'): Promise<void> {
  const now = await files.resolve(path, purpose)
  if (now === path) return
  throw new ToolFailure({
    reason: 'stale_preview',
    message: `"${path}" became a link to "${now}" after the call was checked; nothing was done. Make the call again.`,
    data: { path, now },
  })
}
