import type { ShellWord } from '../../../kit/shell/reading.ts'
import { isKnown } from '../command-view.ts'

/** The options of a program that make it do no more than it is known for. All others are unknown here. */
export interface OptionTable {
  /** Letters of options without a value. */
  readonly flags?: string
  /** Letters of options whose value is the rest of the word, or the next word. */
  readonly valued?: string
  /** Letters of options that may have a value, which is the rest of the word. */
  readonly open?: string
  /** Long options: `name`, `name=` with a value, `name=?` with a value only after `=`. */
  readonly longs?: string
  /** Whether the first operand ends the options. */
  readonly stops?: boolean
  /** Whether there may be options behind `--` all the same. */
  readonly throughout?: boolean
}

/** The words of a command behind its name, told apart. */
export interface ReadOptions {
  /** Each option that has a value, by its letter or long name, with the value; in part, where it stands behind the name. */
  readonly values: readonly (readonly [name: string, value: ShellWord])[]
  /** May be unknown, but none of them is an option. */
  readonly operands: readonly ShellWord[]
}

interface State {
  readonly table: OptionTable
  readonly longs: ReadonlySet<string>
  readonly words: readonly ShellWord[]
  at: number
  readonly values: (readonly [name: string, value: ShellWord])[]
}

/** Tells options from operands. Undefined if a word is, or may be, an option that the table does not have. */
export function readOptions(words: readonly ShellWord[], table: OptionTable): ReadOptions | undefined {
  const longs = new Set(table.longs?.split(/\s+/) ?? [])
  const state: State = { table, longs, words, at: 0, values: [] }
  const operands: ShellWord[] = []
  for (; state.at < words.length; state.at++) {
    const word = words[state.at]
    if (word === undefined) break
    if (isOperand(word)) {
      operands.push(word)
      if (table.stops === true) return { values: state.values, operands: words.slice(state.at) }
    } else if (word.text === '--' && isKnown(word)) {
      if (table.throughout !== true)
        return { values: state.values, operands: [...operands, ...words.slice(state.at + 1)] }
    } else if (!takeOption(state, word)) return undefined
  }
  return { values: state.values, operands }
}

/** Whether a word is not an option, whatever its unknown part stands for. A path of a home directory begins with a slash. */
export function isOperand({ text, known, as }: ShellWord): boolean {
  if (as === 'any') return false
  if (known > 0) return !text.startsWith('-') || text === '-'
  return text === '' || (as === 'one' && /^(?:~|[<>]\()/.test(text))
}

function takeOption(state: State, word: ShellWord): boolean {
  const { text, known, as } = word
  if (as === 'any' || !text.startsWith('-') || known === 0) return false
  return text.startsWith('--') ? takeLong(state, word) : takeLetters(state, word)
}

function takeLong(state: State, word: ShellWord): boolean {
  const [, name = '', value] = /^--([^=]*)(?:=([^]*))?$/.exec(word.text) ?? []
  const surely = name.length + 2
  if (word.known < surely || (value === undefined && !isKnown(word))) return false
  if (value === undefined) {
    if (state.longs.has(name) || state.longs.has(`${name}=?`)) return true
    return state.longs.has(`${name}=`) && takeNext(state, name)
  }
  if (!state.longs.has(`${name}=`) && !state.longs.has(`${name}=?`)) return false
  state.values.push([name, rest(word, surely + 1)])
  return word.as === 'one'
}

function takeLetters(state: State, word: ShellWord): boolean {
  const { flags = '', valued = '', open = '' } = state.table
  for (let at = 1; at < word.text.length; at++) {
    if (at >= word.known) return false
    const letter = word.text.charAt(at)
    if (flags.includes(letter)) continue
    if (open.includes(letter)) return word.as === 'one'
    if (!valued.includes(letter)) return false
    if (at === word.text.length - 1) return takeNext(state, letter)
    state.values.push([letter, rest(word, at + 1)])
    return word.as === 'one'
  }
  return true
}

/** A value that may be several words, or none, would make options of what comes after it; one like an option may be one. */
function takeNext(state: State, name: string): boolean {
  const value = state.words[++state.at]
  if (value === undefined || value.as !== 'one' || (value.known > 0 && /^-./.test(value.text))) return false
  state.values.push([name, value])
  return true
}

function rest({ text, known, as }: ShellWord, from: number): ShellWord {
  return { text: text.slice(from), known: Math.max(0, known - from), as }
}
