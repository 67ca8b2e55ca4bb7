import type { SearchRequest } from '../../contract/services/sandbox.ts'

/** What ripgrep is to search, and which files. */
export interface RipgrepSearch extends Pick<
  SearchRequest,
  'pattern' | 'type' | 'caseInsensitive' | 'before' | 'after' | 'multiline' | 'maxDepth'
> {
  readonly mode: 'list' | SearchRequest['mode']
  /** A glob that files must match. */
  readonly include: string | undefined
  /** Globs that are left out; they win over `include`, whatever their letter case. */
  readonly exclude: readonly string[]
  /** Only the directory itself, ignore files not heeded: for the search in one file. */
  readonly flat: boolean
}

/** Longest line that is shown, in bytes. */
export const maxLineBytes = 4096

/** What a regular expression may cost to compile and to run, and how large a file may be that is searched for text. */
const searchBounds = ['--regex-size-limit=10M', '--dfa-size-limit=64M', '--max-filesize=256M']

/**
 * Arguments for ripgrep, for the working directory. No configuration file, no links, no preprocessor; user text stands only after
 * `-e` and `=`. ripgrep takes `--iglob` after every `--glob`, and the last match wins: so the excluded ones do.
 */
export function ripgrepArguments(search: RipgrepSearch, sort: readonly string[]): string[] {
  const { pattern, include, exclude } = search
  return [
    '--no-config',
    '--no-follow',
    '--no-messages',
    '--no-ignore-global',
    '--hidden',
    '--color=never',
    '--null',
    ...(search.flat ? ['--no-ignore', '--max-depth=1'] : depth(search.maxDepth)),
    ...(search.type === undefined ? [] : [`--type=${search.type}`]),
    ...(include === undefined ? [] : [`--glob=${include}`]),
    ...['.git', ...exclude].map((glob) => `--iglob=!${glob}`),
    ...sort,
    ...modeArguments(search),
    ...(pattern === undefined ? [] : ['-e', pattern]),
    '--',
    '.',
  ]
}

function modeArguments(search: RipgrepSearch): string[] {
  if (search.mode === 'list') return ['--files']
  const matching = [
    ...searchBounds,
    search.caseInsensitive === true ? '--ignore-case' : '--case-sensitive',
    ...(search.multiline === true ? ['--multiline', '--multiline-dotall'] : []),
  ]
  if (search.mode === 'files') return [...matching, '--files-with-matches']
  if (search.mode === 'count') return [...matching, '--count', '--with-filename']
  return [
    ...matching,
    '--heading',
    '--with-filename',
    '--line-number',
    `--max-columns=${maxLineBytes}`,
    '--max-columns-preview',
    ...context('--before-context', search.before),
    ...context('--after-context', search.after),
  ]
}

function depth(folders: number | undefined): string[] {
  return folders === undefined ? [] : [`--max-depth=${folders}`]
}

function context(option: string, lines: number | undefined): string[] {
  return lines === undefined || lines <= 0 ? [] : [`${option}=${Math.floor(lines)}`]
}
