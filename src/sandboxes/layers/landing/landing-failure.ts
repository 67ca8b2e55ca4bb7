import { ToolFailure } from '../../../contract/base/errors.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
import { systemErrorName, toFileFailure } from '../../files/file-failure.ts'
import type { NotTakenBack } from './not-taken-back.ts'

/** What is at the path is not what the change was made for. */
export function changedSince(path: string): ToolFailure {
  return new ToolFailure({
    reason: 'stale_preview',
    message: `"${path}" was changed by another program meanwhile, so nothing was changed. Look at what it is now, and do it again.`,
    data: { path },
  })
}

/** Something is at a path that was free. */
export function takenSince(path: string): ToolFailure {
  return new ToolFailure({
    reason: 'path_conflict',
    message: `"${path}" was made by another program meanwhile, so nothing was changed. Look at what it is, and do it again.`,
    data: { path },
  })
}

/** A step at this path that failed, as a `ToolFailure`. */
export function toLandingFailure(error: unknown, path: string): unknown {
  switch (systemErrorName(error)) {
    case 'EEXIST':
    case 'ENOTEMPTY':
      return takenSince(path)
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
      return changedSince(path)
    default:
      return toFileFailure(error, path)
  }
}

/** A landing that failed, and could not be taken back everywhere, since another program was at work there. */
export function notPutBack(error: unknown, left: readonly NotTakenBack[]): ToolFailure {
  const shown = left.map(({ path, kept, error: why }) =>
    why !== undefined
      ? `"${path}" could not be put back (${messageOf(why)}); the next start of Handrail tries again`
      : kept === undefined
        ? `"${path}" was changed and stays`
        : `"${path}" was changed and stays, and what it was before is in "${kept}"`,
  )
  return new ToolFailure({
    reason: 'partly_done',
    message: `${messageOf(error)} All was put back but this: ${shown.slice(0, 20).join('; ')}.`,
    data: { paths: left.map(({ path }) => path).slice(0, 200) },
  })
}
