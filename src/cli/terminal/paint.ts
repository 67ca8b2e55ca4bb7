import { styleText } from 'node:util'

/** The added and removed lines of a preview in the colours of a diff, where the standard error output shows colours and the person wants them. */
export function paintDiff(line: string): string {
  if (/^ {2}\| \+(?!\+\+)/.test(line)) return paint('green', line)
  return /^ {2}\| -(?!--)/.test(line) ? paint('red', line) : line
}

/** A line with ✓ or ✗ in the colour of that, where the standard output shows colours. */
export function paintMark(line: string): string {
  return line
    .replace(/^( *)✓/, (_, indent: string) => indent + styleText('green', '✓', { stream: process.stdout }))
    .replace(/^( *)✗/, (_, indent: string) => indent + styleText('red', '✗', { stream: process.stdout }))
}

function paint(colour: 'green' | 'red', text: string): string {
  return styleText(colour, text, { stream: process.stderr })
}
