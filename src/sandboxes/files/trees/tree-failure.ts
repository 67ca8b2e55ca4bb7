import { ToolFailure } from '../../../contract/base/errors.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** More than one call takes. */
export function tooManyFiles(path: string, maxEntries: number): ToolFailure {
  return new ToolFailure({
    reason: 'too_many_files',
    message: `"${path}" holds more than ${maxEntries} files and folders. Go through its folders one by one, or use a command.`,
    data: { maxEntries },
  })
}

/** Deeper than one call goes. */
export function tooDeep(path: string, maxDepth: number): ToolFailure {
  return new ToolFailure({
    reason: 'too_many_files',
    message: `"${path}" is more than ${maxDepth} folders deep. Start with a folder further down, or use a command.`,
    data: { maxDepth },
  })
}

/** Something else than what was looked at. */
export function changedMeanwhile(path: string): ToolFailure {
  return new ToolFailure({
    reason: 'stale_preview',
    message: `"${path}" is not what it was when it was looked at. List it again, and make the call again.`,
    data: { path },
  })
}

/** Another file system, or another part of one, is mounted there. */
export function crossesMount(path: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'special_file',
    message: `"${path}" is a mount point; no call goes from one mounted file system into another. Leave it out.`,
    data: { path },
  })
}

/** A folder with something in it, when the call asked for no more than the folder. */
export function notEmpty(path: string): ToolFailure {
  return new ToolFailure({
    reason: 'not_empty',
    message: `"${path}" is a folder with something in it; nothing was deleted. Set recursive to delete all of it.`,
    data: { path },
  })
}

/** The refusal to take away a directory that calls work in. */
export function holdsRoot(path: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'write_outside_allowed_roots',
    message: `"${path}" is a directory that calls may work in, or has one in it, so it stays where it is. Name what lies inside it.`,
    data: { path },
  })
}

/** The target lies in what is to go there. */
export function insideItself(from: string, to: string): ToolFailure {
  return new ToolFailure({
    reason: 'path_conflict',
    message: `"${to}" lies inside "${from}" or is the same; nothing was done. Choose another place.`,
    data: { path: to },
  })
}

/** What stopped in the middle, and how far it came. */
export function partlyDone(
  because: unknown,
  { did, done, all, rest }: { did: string; done: number; all: number; rest: string },
): ToolFailure {
  const cause = messageOf(because)
  const ended = because instanceof ToolFailure && because.code === 'TOOL.ABORTED'
  return new ToolFailure({
    ...(ended ? { code: because.code, reason: because.reason } : { reason: 'partly_done' }),
    message: `${did} ${done} of ${all}; the rest is still at "${rest}". It stopped there: ${cause}`,
    data: { done, left: all - done, rest },
  })
}
