import type { ShellWord } from '../../../kit/shell/reading.ts'
import { isKnown } from '../command-view.ts'
import { readOptions, type OptionTable } from './read-options.ts'

const flags = 'AcdhjJkmOpPrStuvwWxzZ0123456789'
const valued = 'bCfKLNX'

const table: OptionTable = {
  flags,
  valued,
  longs: `absolute-names acls anchored append atime-preserve auto-compress backup block-number bzip2 catenate compare
    concatenate create delay-directory-restore delete dereference diff directory= exclude= exclude-backups exclude-caches
    exclude-from= exclude-tag= exclude-vcs exclude-vcs-ignores extract file= force-local full-time get group= gunzip gzip
    hard-dereference ignore-case ignore-failed-read keep-newer-files keep-old-files list lzip lzma lzop mode= mtime= no-acls
    no-anchored no-ignore-case no-overwrite-dir no-recursion no-same-owner no-same-permissions no-selinux no-wildcards no-xattrs
    null numeric-owner one-file-system overwrite owner= preserve-permissions quoting-style= recursion remove-files same-owner
    same-permissions selinux show-transformed-names skip-old-files sort= sparse strip-components= suffix= test-label totals
    touch ungzip unlink-first update utc verbose verify wildcards wildcards-match-slash xattrs xz zstd`,
}

/** Whether an archive is only read, written or taken out. The first word may be letters of options without a dash, each with a value in the next words. */
export function judgeTar(words: readonly ShellWord[]): boolean {
  const [first, ...rest] = words
  if (first === undefined) return true
  if (first.text.startsWith('-')) return readOptions(words, table) !== undefined
  if (!isKnown(first)) return false
  const letters = Array.from(first.text)
  if (!letters.every((letter) => (flags + valued).includes(letter))) return false
  const values = letters.filter((letter) => valued.includes(letter)).length
  return (
    rest.slice(0, values).every(({ as }) => as === 'one') &&
    readOptions(rest.slice(values), table) !== undefined
  )
}
