const words: { readonly [code: string]: string } = {
  EACCES: 'its permissions, or those of a folder above it, do not let you',
  EEXIST: 'it is there already',
  EISDIR: 'it is a folder',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'what should be a folder above it is a file',
  EPERM: 'its permissions do not let you',
  EROFS: 'the disk can only be read',
}

/** Why the system did not do something with a file, in words; by its code if it is none of the common ones. */
export function describeFileError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return words[code] ?? code
}
