import type { ShellWord } from './reading.ts'

/** A word under way. */
export class WordDraft {
  text = ''
  #known: number | undefined
  #as: ShellWord['as'] = 'one'
  #subscript: string | undefined

  /** Adds letters that are the value. */
  add(value: string): void {
    this.text += value
    if (this.#subscript !== undefined) this.#subscript += value
    else if (value.includes('[')) this.#subscript = value.slice(value.indexOf('['))
  }

  /** Adds letters that stand for a value which only the shell knows, and by which the word may become others. */
  addUnknown(source: string, as: ShellWord['as'] = 'one'): void {
    this.#known ??= this.text.length
    this.text += source
    if (this.#as !== 'any' && as !== 'one') this.#as = as
    if (source === '[') this.#subscript ??= ''
  }

  /** Whether the value may be a subscript with a command in it: some commands of a shell run such a value. */
  get mayEvaluate(): boolean {
    return this.#subscript !== undefined && /\$[({]|`/.test(this.#subscript)
  }

  toWord(): ShellWord {
    const { length } = this.text
    // The name of a command; a glob has its closing bracket in the same word.
    if (this.text === '[') return { text: '[', known: 1, as: 'one' }
    const known = this.#known === undefined ? length : Math.min(this.#known, length - 1)
    return { text: this.text, known, as: this.#as }
  }
}
