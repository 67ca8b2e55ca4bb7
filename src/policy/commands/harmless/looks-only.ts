import type { ShellWord } from '../../../kit/shell/reading.ts'
import { baseName, isKnown } from '../command-view.ts'
import { wordsToName } from './judge-arguments.ts'
import { subcommandOf } from './judge-git.ts'

const lookers = new Set(
  `[ ack ag awk b2sum base64 basename bat cat cksum cmp column comm cut date df diff dirname du echo egrep expand expr factor false fd
  fdfind fgrep file find fmt fold free gawk getconf grep groups head hexdump hostname iconv id info join jq less locale ls lscpu man
  mawk md5sum more nawk nl nproc numfmt od paste printenv printf ps pwd readlink realpath rev rg sed seq sha1sum sha224sum sha256sum
  sha384sum sha512sum sleep sort stat strings sum tac tail test tr tree true tsort tty uname unexpand uniq uptime wc which whoami
  xmllint xxd`.split(/\s+/),
)

/** What a shell does by itself, and that changes no file. */
const builtins = new Set(
  ': break cd continue dirs exit export popd pushd read return set shift shopt times type ulimit umask unset wait'.split(
    ' ',
  ),
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
  return name === 'git'
    ? gitLookers.has(subcommandOf(words.slice(1)) ?? '')
    : lookers.has(name) || builtins.has(name)
}
