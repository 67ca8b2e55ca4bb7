import type { FileStat } from '../../contract/services/sandbox.ts'
import { ToolFailure } from '../../contract/base/errors.ts'

/** What the path is wanted for. */
export type Purpose = 'read' | 'write'

/** The name of a system error, such as `ENOENT`; undefined for any other error. */
export function systemErrorName(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** What a system error at this path means, as a `ToolFailure`; any other error is given back as it is. */
export function toFileFailure(error: unknown, path: string): unknown {
  const name = systemErrorName(error)
  if (name === undefined || error instanceof ToolFailure) return error
  const known = meanings[name]
  if (known !== undefined) return new ToolFailure({ reason: known[0], message: `"${path}": ${known[1]}` })
  return new ToolFailure({
    reason: 'failed',
    message: `"${path}": the operating system answered ${name}.`,
    data: { errno: name },
  })
}

const noPermission = 'the operating system refuses access. Use another path, or ask for permission.'
const noSpace = 'there is no space left to write it; the file is as it was. Free some space and try again.'

const meanings: { readonly [name: string]: readonly [reason: string, message: string] | undefined } = {
  ENOENT: ['file_not_found', 'there is no such file. List the directory to see what is there.'],
  ENOTDIR: ['not_a_directory', 'a part of the path is a file, not a directory.'],
  EISDIR: ['not_a_file', 'this is a directory, not a file.'],
  EACCES: ['permission_denied', noPermission],
  EPERM: ['permission_denied', noPermission],
  EROFS: ['permission_denied', 'the file system is read-only. Use another path.'],
  ENOSPC: ['no_space', noSpace],
  EDQUOT: ['no_space', noSpace],
  EFBIG: ['no_space', 'it would be larger than the system allows; the file is as it was.'],
  ESTALE: ['failed', 'it changed while it was opened. Try again.'],
  EMFILE: ['failed', 'too many files are open. Try again later.'],
  ENFILE: ['failed', 'too many files are open. Try again later.'],
}

/** The refusal of a path that lies outside the roots of this call. */
export function outsideRoots(path: string, purpose: Purpose): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: purpose === 'read' ? 'path_outside_roots' : 'write_outside_allowed_roots',
    message: `"${path}" lies outside the directories this call may ${purpose}. Use a path inside them.`,
    data: { path },
  })
}

/** The refusal to write what other programs run or obey without asking. */
export function protectedPath(path: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'protected_path',
    message: `"${path}" is protected: other programs of the person run or obey it without asking. Ask the person to change it.`,
    data: { path },
  })
}

/** There is nothing at the path. */
export function fileNotFound(path: string): ToolFailure {
  return new ToolFailure({
    reason: 'file_not_found',
    message: `There is no file "${path}". List the directory to see what is there.`,
    data: { path },
  })
}

/** The path is not the kind of thing that is needed. */
export function wrongKind(path: string, found: FileStat['kind'], needed: 'file' | 'directory'): ToolFailure {
  if (found === 'other' || found === 'link')
    return new ToolFailure({
      code: 'SANDBOX.CAPABILITY_BLOCKED',
      reason: 'special_file',
      message: `"${path}" is neither a regular file nor a directory, but a device, a pipe, a socket or a link. Use another path.`,
    })
  return new ToolFailure({
    reason: needed === 'file' ? 'not_a_file' : 'not_a_directory',
    message: `"${path}" is a ${found}; a ${needed} is needed.`,
  })
}

/** The refusal to write over a file that the call did not ask to overwrite. */
export function pathConflict(path: string): ToolFailure {
  return new ToolFailure({
    reason: 'path_conflict',
    message: `"${path}" exists already; nothing was written. Ask for overwriting, or edit the file.`,
    data: { path },
  })
}

/** The refusal to write over a file that is not what the change was made for. */
export function stalePreview(path: string): ToolFailure {
  return new ToolFailure({
    reason: 'stale_preview',
    message: `"${path}" is not what it was when the change was prepared; nothing was written. Read it again.`,
    data: { path },
  })
}
