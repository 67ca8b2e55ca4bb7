import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, realpathSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PathEffect } from '../../../contract/base/effects.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Files } from '../../../contract/services/sandbox.ts'
import { toFileFailure } from '../../files/file-failure.ts'
import { stopIfAborted, type Reach } from '../../files/reach.ts'
import { noteUnfinished, unfinishedName } from '../../leftovers/unfinished-files.ts'

/** Contents as files of this process, until they are disposed of. */
export interface StagedContents extends AsyncDisposable {
  pathOf(digest: string): string
}

/** Writes each content that is to come back into a folder for this user only, and holds it against its digest. */
export async function stageContents(
  reach: Reach,
  effects: readonly PathEffect[],
  open: Parameters<Files['restore']>[1],
): Promise<StagedContents> {
  const folder = join(realpathSync(tmpdir()), unfinishedName())
  const forget = noteUnfinished(folder)
  const clear = async () => {
    rmSync(folder, { recursive: true, force: true })
    forget()
  }
  const digests = new Set(effects.flatMap(({ after }) => (after.kind === 'file' ? [after.digest] : [])))
  const names = new Map([...digests].map((digest, index) => [digest, `${index}`]))
  const pathOf = (digest: string) => join(folder, names.get(digest) ?? 'none')
  try {
    mkdirSync(folder, { mode: 0o700 })
    for (const digest of digests) await write(reach, open(digest), { path: pathOf(digest), digest })
  } catch (error) {
    await clear()
    throw toFileFailure(error, folder)
  }
  return { pathOf, [Symbol.asyncDispose]: clear }
}

async function write(
  reach: Reach,
  pieces: AsyncIterable<Uint8Array>,
  { path, digest }: { path: string; digest: string },
): Promise<void> {
  const hash = createHash('sha256')
  const descriptor = openSync(path, 'wx', 0o600)
  try {
    for await (const piece of pieces) {
      stopIfAborted(reach)
      hash.update(piece)
      for (let done = 0; done < piece.length;) done += writeSync(descriptor, piece, done)
    }
  } finally {
    closeSync(descriptor)
  }
  if (`sha256:${hash.digest('hex')}` === digest) return
  throw new ToolFailure({
    reason: 'not_kept',
    message: `What a file held before (${digest}) is not what it was, so nothing was taken back.`,
    data: { digest },
  })
}
