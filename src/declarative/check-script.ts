import { readCommandLine } from '../kit/shell/read-command-line.ts'
import type { ShellCommand, ShellWord } from '../kit/shell/reading.ts'
import { findCode } from './find-code.ts'
import { findUnquoted } from './find-unquoted.ts'

/**
 * Everything by which a value could become more than a value in a script that gets it as `"$1"`: a parameter outside of double quotes is
 * taken apart, one that names a program or is handed to what runs text is run. What a script does beyond that is for who wrote it to say.
 */
export function checkScript(script: string): string[] {
  const { commands, hidden } = readCommandLine(script)
  const { parameters, unclear } = findUnquoted(script)
  const messages = parameters.map(
    (parameter) =>
      `${parameter} stands outside of double quotes, where a value is taken apart and for a pattern. Write "${parameter}".`,
  )
  if (hidden || unclear)
    messages.push(
      'The script cannot be read for sure: an expression that the shell evaluates, a here-document, or a quote or bracket without its end. Say it in another way, or put the script into a file of its own and run that with "exec".',
    )
  return [...messages, ...new Set(commands.flatMap(checkCommand))]
}

const runsText = ['eval', 'trap', 'source', '.', 'coproc']
const shells = ['sh', 'bash', 'dash', 'ksh', 'zsh', 'busybox']

function checkCommand({ words }: ShellCommand): string[] {
  const [program, ...rest] = words
  if (program === undefined) return []
  if (!isKnown(program))
    return [`"${program.text}" names a program that is only known when the script runs. Name the program.`]
  const name = program.text.slice(program.text.lastIndexOf('/') + 1)
  const takesText = runsText.includes(name) || (shells.includes(name) && rest.some(isScriptOption))
  const code = findCode(
    name,
    rest.map((word) => (isKnown(word) ? word.text : undefined)),
  ).map(({ index }) => rest[index])
  const open = (takesText ? rest : code).find((word) => word !== undefined && !isKnown(word))
  return open === undefined ? [] : [`"${name}" would run what ${open.text} holds. Leave that out.`]
}

function isScriptOption({ text }: ShellWord): boolean {
  return /^-[a-z]*c[a-z]*$/.test(text)
}

function isKnown({ text, known }: ShellWord): boolean {
  return known >= text.length
}
