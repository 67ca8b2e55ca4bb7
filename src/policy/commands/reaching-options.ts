import type { ShellWord } from '../../kit/shell/reading.ts'
import { baseName, isKnown } from './command-view.ts'
import { reachingWordsOfGit } from './reaching-git.ts'

/** Programs that run whatever follows their options. */
const runners = new Set(['watch', 'setsid', 'ionice', 'flock'])

/**
 * Options by which a program that else only looks runs another one, removes or writes. Long options may be abbreviated, and letters
 * may be joined to one word.
 */
const reaching: ReadonlyMap<string, RegExp> = new Map([
  ['ack', /^--pager/],
  ['ag', /^--pager/],
  ['bat', /^--pager/],
  ['fd', /^-[^-]*[xX]|^--exec/],
  ['find', /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/],
  ['less', /^-[^-]*[oOk+]|^--(?:lo|LO|lesskey)|^\+/],
  ['man', /^-[^-]*[CHP]|^--(?:pa|ht|conf)/],
  ['rg', /^--(?:pre|hostname-bin)(?:=|$)/],
  // In place, or by the commands `e`, `w` and `W` and the flags of `s` of the same names.
  [
    'sed',
    /^-[^-]*[if]|^--(?:in|fi)|(?:^|[;{\n\d$/!])\s*[ewW](?=[\s}]|$)|s(\W)[^]*\1[^]*\1[gpimIM\d]*[ew](?=[\s;}]|$)/,
  ],
  ['sort', /^-[^-]*o|^--(?:o|co)/],
  ['split', /^--f/],
  ['tar', /^-[^-]*[IF]|^--(?:checkpoint-a|info-s|new-v|rsh|to-c|use-c)/],
  ['tree', /^-[^-]*[oR]/],
  ['yq', /^-[^-]*i|^--in/],
])

/** Whether a command may run or write more than its program is known for, so that only a pattern without a wildcard covers it. */
export function reachesFurther(words: readonly ShellWord[]): boolean {
  const name = baseName(words[0]?.text ?? '')
  if (runners.has(name)) return true
  const options = name === 'git' ? reachingWordsOfGit(words) : reaching.get(name)
  if (options === undefined || options === 'any') return options === 'any'
  // A variable or a glob may stand for any option.
  return words.some(
    (word, index) => index > 0 && (options.test(word.text) || (!isKnown(word) && word.known <= 0)),
  )
}
