import type { ShellWord } from '../../../kit/shell/reading.ts'
import { isKnown } from '../command-view.ts'
import { areHarmless } from '../transparent.ts'
import { readOptions, type OptionTable } from './read-options.ts'

/** Variables of this form decide nothing for any program or shell. */
const ownName = /^[a-z_][a-z0-9_]*$/

/** Whether words only name variables that decide nothing, or give them a value that a shell does not take apart. */
export function areOwnVariables(words: readonly ShellWord[]): boolean {
  return words.every((word) => {
    const [, name = '', value] = /^(\w+)(?:=([^]*))?$/.exec(word.text) ?? []
    if (word.as !== 'one' || word.known < name.length + (value === undefined ? 0 : 1)) return false
    if (value === undefined && !isKnown(word)) return false
    const isOwn = ownName.test(name) || areHarmless([{ ...word, text: `${name}=` }])
    return isOwn && (value === undefined || !value.startsWith('('))
  })
}

/** A command that sets the variables that its operands name. */
export function sets(table: OptionTable, skipped = 0): (words: readonly ShellWord[]) => boolean {
  return (words) => {
    const read = readOptions(words, { ...table, stops: true })
    return read !== undefined && areOwnVariables(read.operands.slice(skipped))
  }
}

const switches = /^[-+][befhmnptuvxBCEHPT]+$/
const named = /^(?:errexit|noclobber|noglob|nounset|pipefail|verbose|xtrace)$/

/** `set`: switches that change how a shell stops and what it shows, and its positional parameters. */
export function judgeSet(words: readonly ShellWord[]): boolean {
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    if (word === undefined || !isKnown(word)) return false
    if (word.text === '--' || !/^[-+]/.test(word.text)) return true
    const withName = /^([-+][befhmnptuvxBCEHPT]*)o$/.exec(word.text)?.[1]
    if (withName === undefined && !switches.test(word.text)) return false
    if (withName !== undefined && !named.test(words[++at]?.text ?? '')) return false
  }
  return true
}

/** `shopt`: what globs match. */
export function judgeShopt(words: readonly ShellWord[]): boolean {
  const read = readOptions(words, { flags: 'pqsu' })
  const fine = /^(?:dotglob|failglob|globstar|nocaseglob|nullglob)$/
  return read?.operands.every((word) => isKnown(word) && fine.test(word.text)) === true
}
