import type { ShellWord } from '../../../kit/shell/reading.ts'
import { baseName, isKnown } from '../command-view.ts'
import { isWrapper, unwrap } from '../wrappers.ts'
import { judgeSet, judgeShopt, sets } from './judge-builtins.ts'
import { judgeFind } from './judge-find.ts'
import { judgeGit } from './judge-git.ts'
import { judgeNpm } from './judge-npm.ts'
import { judgeTar } from './judge-tar.ts'
import { judgeTest } from './judge-test.ts'
import { isHarmlessAwk } from './read-awk.ts'
import { readOptions, type OptionTable, type ReadOptions } from './read-options.ts'
import { isHarmlessSed } from './read-sed.ts'

/** Whether a command does no more than its program is known for; or how many words a pattern must name by itself for that. */
type Judge = (words: readonly ShellWord[]) => boolean | number

/**
 * How many words of a command a pattern must name by itself, so that a wildcard covers the others: none if the program does no more than it is
 * known for, whatever else is not known of the words; all of them where it may run, write or set more. Programs that are not known here do with any
 * words what the rule that names them allows.
 */
export function wordsToName(words: readonly ShellWord[]): number {
  const name = baseName(words[0]?.text ?? '')
  const judge = judges.get(name)
  if (judge === undefined) return wordsOfWrapper(name, words)
  const judged = judge(words.slice(1))
  return typeof judged === 'number' ? judged : judged ? 0 : Infinity
}

/** A program that runs its arguments does what these do: they are named with it, as far as they would be by themselves. */
function wordsOfWrapper(name: string, words: readonly ShellWord[]): number {
  const inner = isWrapper(name) ? unwrap(name, words) : undefined
  if (inner === undefined || (inner.sure && inner.words.length === 0)) return 0
  if (inner.loose || !inner.sure) return Infinity
  return words.length - inner.words.length + Math.max(1, wordsToName(inner.words))
}

function takes(table: OptionTable, fits: (read: ReadOptions) => boolean = () => true): Judge {
  return (words) => {
    const read = readOptions(words, table)
    return read !== undefined && fits(read)
  }
}

const nothing: Judge = (words) => words.length === 0
const never: Judge = () => false

/** What is more would be written to. */
function atMost(count: number): (read: ReadOptions) => boolean {
  return ({ operands }) => operands.length <= count && operands.every(({ as }) => as === 'one')
}

/** The programs among the words: the values of these options, else the first operand, are known and fit. */
function programs(
  options: readonly string[],
  fits: (program: string) => boolean,
): (read: ReadOptions) => boolean {
  return ({ values, operands }) => {
    const given = values.filter(([name]) => options.includes(name)).map(([, value]) => value)
    const all = given.length > 0 ? given : operands.slice(0, 1)
    return all.every((word) => isKnown(word) && fits(word.text))
  }
}

const awk = takes(
  { valued: 'Fv', longs: 'assign= csv field-separator= posix re-interval sandbox traditional', stops: true },
  programs([], isHarmlessAwk),
)

const sed = takes(
  {
    flags: 'nErsuz',
    valued: 'el',
    longs: `debug expression= line-length= null-data posix quiet regexp-extended separate silent unbuffered zero-terminated`,
  },
  programs(['e', 'expression'], isHarmlessSed),
)

const fd = takes({
  flags: 'HIusigFaLlp0q1',
  valued: 'dteEcjSo',
  longs: `absolute-path base-directory= case-sensitive changed-before= changed-within= color= exact-depth= exclude= extension=
    fixed-strings follow format= full-path glob hidden ignore-case list-details max-depth= max-results= min-depth= no-follow
    no-hidden no-ignore no-ignore-parent no-ignore-vcs one-file-system path-separator= print0 prune quiet regex relative-path
    show-errors size= strip-cwd-prefix type= unrestricted`,
})

const less = takes({ flags: 'aAcCdeEfFgGiIJmMnNqQrRsSuUwWX0123456789', valued: 'bhjpPxyz' }, ({ operands }) =>
  operands.every((word) => word.known > 0 && !word.text.startsWith('+')),
)

const rg = takes({
  flags: 'FHILNPSUVabchilnopqsuvwxz0.',
  valued: 'ABCEMTdefgjmrt',
  longs: `after-context= auto-hybrid-regex before-context= binary block-buffered byte-offset case-sensitive color= colors=
    column context= context-separator= count count-matches crlf debug dfa-size-limit= encoding= engine= field-context-separator=
    field-match-separator= file= files files-with-matches files-without-match fixed-strings follow generate= glob= glob-case-insensitive
    heading help hidden iglob= ignore ignore-case ignore-dot ignore-exclude ignore-file= ignore-file-case-insensitive
    ignore-files ignore-global ignore-messages ignore-parent ignore-vcs include-zero invert-match json line-buffered line-number
    line-regexp max-columns= max-columns-preview max-count= max-depth= max-filesize= messages mmap multiline multiline-dotall
    no-block-buffered no-column no-config no-context-separator no-crlf no-filename no-fixed-strings no-follow no-heading no-hidden
    no-ignore no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs
    no-json no-line-buffered no-line-number no-messages no-mmap no-multiline no-pcre2 no-require-git no-stats no-text no-trim
    no-unicode null null-data one-file-system only-matching passthru path-separator= pcre2 pcre2-version pretty quiet
    regex-size-limit= regexp= replace= search-zip smart-case sort= sortr= stats stop-on-nonmatch text threads= trace trim type=
    type-add= type-clear= type-list type-not= unicode unrestricted version vimgrep with-filename word-regexp`,
})

const judges: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  [
    'ack',
    takes({
      flags: 'acfhHiIklLnorRsSvwx1',
      valued: 'ABCgm',
      longs:
        'after-context= before-context= color context= count cpp css files-with-matches files-without-matches follow html ignore-case invert-match java js json literal nocolor nogroup group noheading php python ruby rust sort-files type= word-regexp xml yaml',
    }),
  ],
  [
    'ag',
    takes({
      flags: 'acfFhHiklLnoQrRsStuUvwz0',
      valued: 'ABCgGmp',
      longs:
        'after= all-text all-types before= color column context= count depth= file-search-regex= files-with-matches files-without-matches filename follow group hidden ignore-case ignore-dir= ignore= invert-match literal max-count= nocolor nofilename nogroup nonumbers numbers one-device only-matching parallel print-all-files search-binary search-files= silent smart-case stats unrestricted vimgrep word-regexp',
    }),
  ],
  ['alias', nothing],
  ['awk', awk],
  [
    'bat',
    takes({
      flags: 'AnpPSu',
      valued: 'lHmr',
      longs:
        'color= decorations= diff diff-context= file-name= highlight-line= italic-text= language= line-range= list-languages list-themes number paging= plain show-all style= tabs= terminal-width= theme= wrap=',
    }),
  ],
  ['bind', nothing],
  ['compgen', nothing],
  ['complete', nothing],
  [
    'csplit',
    takes({
      flags: 'ksz',
      valued: 'n',
      longs: 'digits= elide-empty-files keep-files quiet silent suppress-matched',
    }),
  ],
  ['declare', sets({ flags: 'gFlprtux' })],
  ['enable', nothing],
  ['export', sets({ flags: 'np' })],
  ['fc', nothing],
  ['fd', fd],
  ['fdfind', fd],
  [
    'file',
    takes({
      flags: 'bdEhikLNnprsSvzZ0',
      valued: 'efFmP',
      longs:
        'apple brief dereference exclude= exclude-quiet= extension files-from= help keep-going list magic-file= mime mime-encoding mime-type no-buffer no-dereference no-pad no-sandbox parameter= preserve-date print0 raw separator= special-files uncompress uncompress-noreport version',
    }),
  ],
  ['find', judgeFind],
  ['flock', never],
  ['gawk', awk],
  ['getopts', sets({}, 1)],
  ['git', judgeGit],
  ['hash', takes({ flags: 'dlrt' })],
  ['history', nothing],
  [
    'hg',
    takes({
      flags: 'acdGgmnpquvB',
      valued: 'bIklrX',
      longs:
        'all branch= exclude= git graph include= limit= no-merges patch quiet rev= stat template= user= verbose',
    }),
  ],
  ['iconv', takes({ flags: 'cls', valued: 'ft', longs: 'from-code= list silent to-code=' })],
  ['info', takes({ flags: 'aw', valued: 'fkn' })],
  ['ionice', never],
  ['jobs', takes({ flags: 'lnprs' })],
  ['less', less],
  ['let', never],
  ['local', sets({ flags: 'lprtux' })],
  [
    'man',
    takes({
      flags: 'acdfhikKuwW7',
      valued: 'eEmMsS',
      longs:
        'all apropos global-apropos ignore-case locale= match-case names-only regex sections= systems= whatis where wildcard',
    }),
  ],
  ['mapfile', sets({ flags: 't', valued: 'dnOsu' })],
  ['mawk', awk],
  ['more', less],
  ['nawk', awk],
  ['npm', judgeNpm],
  ['openssl', judgeOpenssl],
  ['parallel', never],
  ['pnpm', judgeNpm],
  ['printf', takes({ stops: true })],
  ['read', sets({ flags: 'ers', valued: 'dinNptu' })],
  ['readarray', sets({ flags: 't', valued: 'dnOsu' })],
  ['readonly', sets({ flags: 'p' })],
  ['rg', rg],
  ['sed', sed],
  ['set', judgeSet],
  ['setsid', never],
  ['shopt', judgeShopt],
  [
    'shuf',
    takes({
      flags: 'erz',
      valued: 'in',
      longs: 'echo head-count= input-range= random-source= repeat zero-terminated',
    }),
  ],
  [
    'sort',
    takes({
      flags: 'bcCdfghiMmnRrsuVz',
      valued: 'kSt',
      longs:
        'batch-size= buffer-size= check=? debug dictionary-order field-separator= files0-from= general-numeric-sort human-numeric-sort ignore-case ignore-leading-blanks ignore-nonprinting key= merge month-sort numeric-sort parallel= random-sort random-source= reverse sort= stable unique version-sort zero-terminated',
    }),
  ],
  [
    'split',
    takes(
      {
        flags: 'deuxz',
        valued: 'abClnt',
        longs:
          'bytes= elide-empty-files hex-suffixes=? line-bytes= lines= number= numeric-suffixes=? separator= suffix-length= unbuffered verbose',
      },
      atMost(1),
    ),
  ],
  [
    'svn',
    takes({
      flags: 'gNqRuv',
      valued: 'clr',
      longs:
        'change= depth= diff git limit= quiet recursive revision= search= show-updates stop-on-copy summarize verbose xml',
    }),
  ],
  ['tar', judgeTar],
  ['test', judgeTest],
  ['trap', nothing],
  [
    'tree',
    takes({
      flags: 'aACdDfFghilnNpqQrsStuUvxX',
      valued: 'HILPT',
      longs:
        'charset= charset dirsfirst device du filelimit= filesfirst fromfile gitfile= gitignore ignore-case info inodes matchdirs noreport nolinks prune si sort= timefmt=',
    }),
  ],
  ['typeset', sets({ flags: 'gFlprtux' })],
  ['unalias', nothing],
  [
    'uniq',
    takes(
      {
        flags: 'cdDiuz0123456789',
        valued: 'fsw',
        longs:
          'all-repeated=? check-chars= count group=? ignore-case repeated skip-chars= skip-fields= unique zero-terminated',
      },
      atMost(1),
    ),
  ],
  ['unset', sets({ flags: 'v' })],
  ['wait', judgeWait],
  ['watch', never],
  ['xargs', never],
  ['xmllint', takes({ longs: 'encode= format html nonet noout recover valid xpath=' })],
  ['xxd', takes({ flags: 'abeEhipruvC', valued: 'clgons', stops: true }, atMost(1))],
  [
    'yq',
    takes({
      flags: 'CMNPcejnrv0',
      valued: 'Iop',
      longs:
        'colors exit-status from-file= indent= input-format= no-colors no-doc null-input nul-output output-format= prettyPrint raw-output unwrapScalar=?',
    }),
  ],
  ['[', judgeTest],
])

/** By `-p` it sets a variable, whose name it evaluates. */
function judgeWait(words: readonly ShellWord[]): boolean {
  return words.every((word) => word.text === '$!' || (isKnown(word) && !/^-[^fn]/.test(word.text)))
}

/** Digests, certificates and random values, shown and not written. */
const ofOpenssl =
  /^-(?:alpn|base64|connect|dates|dgst|enddate|ext|fingerprint|hex|in|inform|issuer|md5|modulus|nameopt|noout|pubkey|r|serial|servername|sha1|sha256|sha384|sha512|showcerts|startdate|subject|text|verify_hostname|verify_return_error)$/
const opensslCommands =
  /^(?:asn1parse|base64|ciphers|crl|dgst|list|md5|rand|s_client|sha1|sha256|sha384|sha512|version|x509)$/

function judgeOpenssl([command, ...words]: readonly ShellWord[]): boolean | number {
  if (command === undefined) return true
  if (!isKnown(command)) return false
  if (!opensslCommands.test(command.text)) return 2
  return words.every((word) =>
    isKnown(word)
      ? !word.text.startsWith('-') || ofOpenssl.test(word.text)
      : word.as === 'one' && word.known > 0 && !word.text.startsWith('-'),
  )
}
