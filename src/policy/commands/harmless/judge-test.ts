import type { ShellWord } from '../../../kit/shell/reading.ts'
import { isKnown } from '../command-view.ts'

const ofOne = /^-[a-hknoprstuwxzLOGNS]$/
const ofTwo = /^(?:=|==|!=|<|>|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef)$/
const joining = /^(?:!|\(|\)|-a|-o|\])$/

/**
 * Whether a test of a shell (`test`, `[`) looks at nothing but values and files. By `-v` and `-R` it evaluates what it is given, so that a word
 * that may be one of these is none.
 */
export function judgeTest(words: readonly ShellWord[]): boolean {
  const isOperator = (at: number, pattern: RegExp) => {
    const word = words[at]
    return word !== undefined && isKnown(word) && pattern.test(word.text)
  }
  return words.every((word, at) => {
    if (isKnown(word)) return !/^-[vR]$/.test(word.text)
    if (word.as !== 'one') return false
    const isAlone = (words.length === 1 || isOperator(1, joining)) && at === 0
    const before = isOperator(at - 1, ofOne) || isOperator(at - 1, ofTwo)
    return isAlone || before || isOperator(at + 1, ofTwo) || isNegatedAlone(words, at, isOperator)
  })
}

function isNegatedAlone(
  words: readonly ShellWord[],
  at: number,
  isOperator: (at: number, pattern: RegExp) => boolean,
): boolean {
  return isOperator(at - 1, /^!$/) && (at === words.length - 1 || isOperator(at + 1, joining))
}
