import type { ShellWord } from '../../kit/shell/reading.ts'
import { isKnown } from './command-view.ts'

/** Options before the subcommand whose value is the next word. */
const withValue = new Set([
  '-C',
  '-c',
  '--attr-source',
  '--config-env',
  '--git-dir',
  '--namespace',
  '--work-tree',
])

/** Options before the subcommand that set what git runs. */
const settings = /^(?:-c|--config-env(?:=|$)|--exec-path=)/

const ofDiffs = /^--(?:ou|ext)/

/** Words after a subcommand by which it runs a program that they or a setting name, or writes where else it only looks. */
const reaching: ReadonlyMap<string, RegExp> = new Map([
  ['archive', /^-[^-]*o|^--[ero]/],
  ['bisect', /^run$/],
  ['cat-file', /^--(?:te|fi)/],
  ['clone', /^-[^-]*[cu]|^--(?:co|te|u)/],
  ['diff', ofDiffs],
  ['diff-files', ofDiffs],
  ['diff-index', ofDiffs],
  ['diff-tree', ofDiffs],
  ['difftool', /^-[^-]*x|^--ext/],
  ['fetch', /^--upl/],
  ['grep', /^-[^-]*O|^--(?:op|textc)/],
  ['init', /^--te/],
  ['log', ofDiffs],
  ['ls-remote', /^--(?:u|exe)/],
  ['pull', /^--upl/],
  ['push', /^--(?:rece|e)/],
  ['rebase', /^-[^-]*x|^--ex/],
  ['reflog', ofDiffs],
  ['show', ofDiffs],
  ['stash', ofDiffs],
  ['submodule', /^foreach$/],
  ['whatchanged', ofDiffs],
])

/**
 * The words by which a git command would reach further than its subcommand is known for; `any` where it does so already, undefined
 * where no word does.
 */
export function reachingWordsOfGit(words: readonly ShellWord[]): RegExp | 'any' | undefined {
  let at = 1
  for (; words[at]?.text.startsWith('-') === true; at++) {
    const text = words[at]?.text ?? ''
    if (settings.test(text)) return 'any'
    if (withValue.has(text)) at++
  }
  const subcommand = words[at]
  if (subcommand === undefined) return undefined
  return isKnown(subcommand) ? reaching.get(subcommand.text) : 'any'
}
