import type { ShellWord } from '../../../kit/shell/reading.ts'
import { isKnown } from '../command-view.ts'
import { readOptions, type OptionTable, type ReadOptions } from './read-options.ts'

/** What a subcommand takes; `true` where no option of it runs a program or writes another file. */
type Subcommand = true | OptionTable | ((words: readonly ShellWord[]) => boolean)

const beforeSubcommand: OptionTable = {
  flags: 'hpPv',
  valued: 'C',
  longs: `attr-source= glob-pathspecs help html-path icase-pathspecs info-path literal-pathspecs man-path no-advice
    no-lazy-fetch no-optional-locks no-pager no-replace-objects noglob-pathspecs paginate version`,
  stops: true,
}

const ofDiffs = `abbrev=? anchored= author-date-order binary cached check color=? color-moved=?
  color-moved-ws= color-words=? combined-all-paths compact-summary cumulative default-prefix diff-algorithm=
  diff-filter= dirstat=? dirstat-by-file dst-prefix= exit-code find-copies=? find-copies-harder find-object=
  find-renames=? full-index function-context histogram ignore-all-space ignore-blank-lines ignore-cr-at-eol
  ignore-matching-lines= ignore-space-at-eol ignore-space-change ignore-submodules=? indent-heuristic
  inter-hunk-context= irreversible-delete ita-invisible-in-index line-prefix= merge-base minimal name-only name-status no-abbrev
  no-color no-color-moved no-ext-diff no-index no-indent-heuristic no-patch no-prefix no-relative no-rename-empty no-renames
  no-textconv numstat patch patch-with-raw patch-with-stat patience pickaxe-all pickaxe-regex quiet raw relative=?
  rename-empty shortstat src-prefix= staged stat=? stat-count= stat-name-width= stat-width= submodule=? summary
  text unified=? word-diff=? word-diff-regex= ws-error-highlight=`

const ofHistory = `abbrev-commit after= all all-match ancestry-path=? author= basic-regexp before= bisect
  boundary branches=? cc cherry cherry-mark cherry-pick children committer= count date= date-order decorate=?
  decorate-refs= decorate-refs-exclude= dense diff-merges= do-walk encoding= exclude= exclude-first-parent-only
  expand-tabs=? extended-regexp first-parent fixed-strings follow format= full-diff full-history glob= graph grep=
  header ignore-missing invert-grep left-only left-right log-size mailmap max-count= max-parents= merge merges min-parents=
  no-abbrev-commit no-color no-decorate no-expand-tabs no-graph no-mailmap no-max-parents no-merges no-min-parents no-notes
  no-use-mailmap no-walk=? not notes=? objects oneline parents perl-regexp pretty=? quiet reflog
  regexp-ignore-case relative-date remotes=? remove-empty reverse right-only show-linear-break show-notes show-pulls
  simplify-by-decoration simplify-merges since= since-as-filter= skip= source sparse tags=? timestamp topo-order until=
  use-mailmap walk-reflogs`

const looking: OptionTable = {
  flags: '0123456789abcEFgimpPqrRstuvwWyz',
  valued: 'GIlnSL',
  open: 'BCDMUX',
  longs: `${ofDiffs} ${ofHistory}`,
}

const ofMerges = `allow-unrelated-histories autostash commit ff ff-only log=? no-autostash no-commit no-edit no-ff no-log
  no-progress no-rerere-autoupdate no-signoff no-squash no-stat no-summary no-verify progress quiet rerere-autoupdate signoff
  squash stat strategy= strategy-option= summary verbose verify`

const ofBlame: OptionTable = {
  throughout: true,
  flags: 'bceflnpstwr',
  valued: 'LS',
  open: 'CM',
  longs: `abbrev= color-by-age color-lines date= first-parent ignore-rev= ignore-revs-file= incremental line-porcelain porcelain
    reverse root score-debug show-email show-name show-number show-stats since=`,
}

const ofFetches = `all append atomic auto-gc auto-maintenance deepen= depth= dry-run filter= force ipv4 ipv6 jobs= keep multiple
  negotiation-tip= no-all no-auto-gc no-auto-maintenance no-recurse-submodules no-show-forced-updates no-tags
  no-write-fetch-head porcelain prefetch progress prune prune-tags quiet recurse-submodules=? refetch
  refmap= set-upstream shallow-exclude= shallow-since= show-forced-updates tags unshallow update-head-ok update-shallow verbose
  write-fetch-head`

/** No option of these runs a program that a word names, or writes a file that a word names. */
const harmless = `add branch check-attr check-ignore check-ref-format checkout cherry clean commit count-objects describe
  for-each-ref fsck gc ls-files ls-tree merge merge-base mv name-rev prune remote reset restore rev-parse rm show-branch show-ref
  status switch symbolic-ref tag update-index version worktree`

const subcommands: ReadonlyMap<string, Subcommand> = new Map<string, Subcommand>([
  ...harmless.split(/\s+/).map((name): [string, Subcommand] => [name, true]),
  [
    'am',
    {
      flags: 'ckqsu3',
      open: 'Cp',
      longs: `3way abort allow-empty continue directory= exclude= ignore-date
    ignore-space-change ignore-whitespace include= keep-cr no-keep-cr no-verify quiet quit reject resolved signoff skip utf8
    whitespace=`,
    },
  ],
  ['annotate', ofBlame],
  [
    'apply',
    {
      flags: 'qNRvz3',
      open: 'Cp',
      longs: `3way allow-empty allow-overlap apply cached check directory= exclude=
    ignore-space-change ignore-whitespace inaccurate-eof include= index intent-to-add no-add numstat quiet recount reject reverse
    stat summary unidiff-zero unsafe-paths verbose whitespace=`,
    },
  ],
  ['archive', { flags: 'lv0123456789', longs: 'format= list mtime= prefix= verbose worktree-attributes' }],
  ['bisect', startsWith('bad', 'good', 'log', 'new', 'next', 'old', 'reset', 'skip', 'start', 'terms')],
  ['blame', ofBlame],
  [
    'cat-file',
    {
      flags: 'epstz',
      longs: `allow-unknown-type batch batch= batch-all-objects batch-check batch-check=
    batch-command buffer follow-symlinks unordered use-mailmap`,
    },
  ],
  [
    'cherry-pick',
    {
      throughout: true,
      flags: 'nrsx',
      valued: 'mX',
      longs: `abort allow-empty allow-empty-message cleanup= continue empty= ff
    keep-redundant-commits mainline= no-commit no-edit quit signoff skip strategy= strategy-option=`,
    },
  ],
  [
    'clone',
    {
      flags: 'lnqsv',
      valued: 'bjo',
      longs: `bare branch= depth= filter= jobs= local mirror no-checkout no-hardlinks
    no-recurse-submodules no-remote-submodules no-shallow-submodules no-single-branch no-tags origin= progress quiet
    recurse-submodules=? remote-submodules shallow-exclude= shallow-since= shallow-submodules single-branch sparse verbose`,
    },
  ],
  ['config', judgeConfig],
  ['diff', looking],
  ['diff-files', looking],
  ['diff-index', looking],
  ['diff-tree', looking],
  [
    'difftool',
    { flags: 'dgy', longs: 'cached dir-diff gui no-prompt no-symlinks prompt staged symlinks tool-help' },
  ],
  ['fetch', { flags: 'afkmnpPqtuv46', valued: 'jo', longs: ofFetches }],
  [
    'grep',
    {
      flags: 'aIivwhHGEPFnlLzocpWrq0123456789',
      valued: 'ABCefm',
      longs: `after-context= all-match and basic-regexp
    before-context= break cached color=? column context= count exclude-standard extended-regexp files-with-matches
    files-without-match fixed-strings full-name function-context heading ignore-case invert-match line-number max-count=
    max-depth= name-only no-break no-color no-exclude-standard no-index no-recursive no-textconv not null only-matching or
    perl-regexp quiet recurse-submodules recursive show-function text threads= untracked word-regexp`,
    },
  ],
  ['hash-object', { flags: 'w', valued: 't', longs: 'literally no-filters path= stdin stdin-paths' }],
  ['init', { flags: 'q', valued: 'b', longs: 'bare initial-branch= object-format= quiet' }],
  ['log', looking],
  ['ls-remote', { flags: 'hqt', longs: 'branches exit-code get-url heads quiet refs sort= symref tags' }],
  ['notes', startsWith('', 'get-ref', 'list', 'prune', 'show')],
  [
    'pull',
    { flags: 'afknpqrtuv46', valued: 'jsX', open: 'r', longs: `${ofMerges} ${ofFetches} no-rebase rebase=?` },
  ],
  [
    'push',
    {
      flags: 'dfnquv46',
      valued: 'o',
      longs: `all atomic branches delete dry-run follow-tags force force-if-includes
    force-with-lease=? ipv4 ipv6 mirror no-follow-tags no-recurse-submodules no-signed no-thin no-verify porcelain progress prune
    push-option= quiet recurse-submodules= repo= set-upstream tags thin verbose verify`,
    },
  ],
  ['range-diff', { ...looking, longs: `${ofDiffs} ${ofHistory} creation-factor= dual-color no-dual-color` }],
  [
    'rebase',
    {
      flags: 'fkmnqrv',
      valued: 'sX',
      longs: `abort allow-empty-message apply autosquash autostash
    committer-date-is-author-date continue empty= force-rebase fork-point ignore-date ignore-whitespace keep-base keep-empty merge
    no-autosquash no-autostash no-ff no-fork-point no-keep-empty no-rebase-merges no-reapply-cherry-picks no-stat no-update-refs
    no-verify onto= quiet quit reapply-cherry-picks rebase-merges=? reset-author-date root skip stat strategy= strategy-option=
    update-refs verbose verify whitespace=`,
    },
  ],
  ['reflog', looking],
  ['rev-list', looking],
  [
    'revert',
    {
      throughout: true,
      flags: 'ns',
      valued: 'mX',
      longs: `abort cleanup= continue mainline= no-commit no-edit quit reference signoff
    skip strategy= strategy-option=`,
    },
  ],
  [
    'shortlog',
    {
      ...looking,
      flags: `${looking.flags}n`,
      valued: 'GISL',
      open: 'w',
      longs: `${ofDiffs} ${ofHistory} committer email group= numbered summary`,
    },
  ],
  ['show', looking],
  [
    'stash',
    {
      flags: '0123456789abiIkpqRSsuwz',
      valued: 'm',
      longs: `${ofDiffs} ${ofHistory} all include-untracked index
    keep-index message= no-include-untracked no-keep-index only-untracked pathspec-file-nul pathspec-from-file=`,
    },
  ],
  [
    'submodule',
    startsWith('', 'absorbgitdirs', 'deinit', 'init', 'set-branch', 'status', 'summary', 'sync', 'update'),
  ],
  ['whatchanged', looking],
])

/**
 * How many words of a git command a pattern must name by itself for the command to do no more than it is known for: up to a subcommand that is
 * unknown here; none else. All of them where an option reaches further.
 */
export function judgeGit(words: readonly ShellWord[]): number {
  const before = readOptions(words, beforeSubcommand)
  if (before === undefined) return Infinity
  const [name, ...more] = before.operands
  if (name === undefined) return 0
  if (!isKnown(name)) return Infinity
  const known = subcommands.get(name.text)
  if (known === undefined) return words.length - more.length + 1
  return isHarmless(known, more) ? 0 : Infinity
}

/** The subcommand of a git command, if it is known. */
export function subcommandOf(words: readonly ShellWord[]): string | undefined {
  const [name] = readOptions(words, beforeSubcommand)?.operands ?? []
  return name !== undefined && isKnown(name) ? name.text : undefined
}

function isHarmless(known: Subcommand, words: readonly ShellWord[]): boolean {
  if (known === true) return true
  return typeof known === 'function' ? known(words) : readOptions(words, known) !== undefined
}

/** Whether the first word that is not an option is one of these. The empty name stands for no such word. */
function startsWith(...names: readonly string[]): (words: readonly ShellWord[]) => boolean {
  return (words) => {
    const first = words.find(({ text }) => !/^-(?:q|-cached|-quiet)$/.test(text))
    return first === undefined ? names.includes('') : isKnown(first) && names.includes(first.text)
  }
}

const reading: OptionTable = {
  flags: 'lz',
  longs: `all bool bool-or-int default= fixed-value get get-all get-regexp get-urlmatch global includes int list local name-only
    no-includes null path show-names show-origin show-scope system type= url= value= worktree`,
}

/** Reading a setting takes its name; another word behind it would be its value. */
function judgeConfig(words: readonly ShellWord[]): boolean {
  const read: ReadOptions | undefined = readOptions(words, reading)
  if (read === undefined) return false
  const [verb] = read.operands
  const more = verb?.text === 'get' || verb?.text === 'list' ? 2 : 1
  return read.operands.length <= more && read.operands.every(({ as }) => as === 'one')
}
