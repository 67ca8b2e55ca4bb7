import type { ShellWord } from '../../../kit/shell/reading.ts'
import { baseName, isKnown } from '../command-view.ts'
import { wordsToName } from './judge-arguments.ts'
import { subcommandOf } from './judge-git.ts'

const lookers = new Set(
  `[ ack ag awk base64 basename bat cat cmp cut date df diff dirname du echo egrep fd fdfind fgrep file find gawk grep head
  hexdump iconv info jq less ls man mawk md5sum more nawk nl od printf pwd readlink realpath rg sed sha1sum sha256sum sort stat
  tail test tr tree true uniq wc which xmllint xxd`.split(/\s+/),
)

const gitLookers = new Set(
  `annotate blame cat-file check-attr check-ignore cherry count-objects describe diff diff-files diff-index diff-tree for-each-ref
  grep log ls-files ls-remote ls-tree merge-base name-rev range-diff reflog rev-list rev-parse shortlog show show-branch show-ref
  status version whatchanged`.split(/\s+/),
)

/** Whether a command is known to look and change nothing, with words by which its program does no more than that. */
export function looksOnly(words: readonly ShellWord[]): boolean {
  const [program] = words
  if (program === undefined || !isKnown(program) || wordsToName(words) !== 0) return false
  const name = baseName(program.text)
  return name === 'git' ? gitLookers.has(subcommandOf(words.slice(1)) ?? '') : lookers.has(name)
}
