import { showControls } from './show-controls.ts'

/** Arguments in one line as a shell would take them, for reading: two different lists never look the same. */
export function quoteArgv(argv: readonly string[]): string {
  return argv.map(quoteArgument).join(' ')
}

/** One argument; in single quotes where a shell would see more than plain text, as `$'…'` where it has unseen characters. */
export function quoteArgument(argument: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(argument)) return argument
  if (showControls(argument) === argument && !/[\t\n\r]/.test(argument))
    return `'${argument.replaceAll("'", String.raw`'\''`)}'`
  const escaped = argument.replace(/[\\']/g, String.raw`\$&`).replace(/[^\x20-\x7e]/gu, escape)
  return `$'${escaped}'`
}

const named: { readonly [letter: string]: string } = {
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
}

function escape(letter: string): string {
  const code = letter.codePointAt(0) ?? 0
  const known = named[letter]
  if (known !== undefined) return known
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\U${code.toString(16).padStart(8, '0')}`
}
