/** What stands beside what it is about. */
export type Row = readonly [left: string, right: string]

const widest = 100
const narrowest = 40

/** How wide pages are: as the terminal, up to what is easily read. */
export function pageWidth(stream: NodeJS.WriteStream): number {
  return Math.max(narrowest, Math.min(widest, stream.columns ?? widest))
}

/** Two columns; what is too wide for the left one stands on a line of its own. */
export function table(rows: readonly Row[], width: number): string[] {
  const most = Math.floor(width / 3)
  const left = Math.min(most, Math.max(...rows.map(([name]) => name.length)))
  const indent = ' '.repeat(left + 4)
  return rows.flatMap(([name, about]) => {
    const lines = about === '' ? [] : wrap(`${indent}${about}`, width, indent)
    if (name.length > left) return [...wrap(`  ${name}`, width, '      '), ...lines]
    return [`  ${name.padEnd(left)}  ${lines[0]?.trimStart() ?? ''}`.trimEnd(), ...lines.slice(1)]
  })
}

/** Lines of at most this width, broken between words; those after the first are indented. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const start = /^ */.exec(text)?.[0] ?? ''
  const lines: string[] = []
  let line = start
  for (const word of text.trim().split(' ')) {
    const isEmpty = line.trim() === ''
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = indent + word
    } else line += isEmpty ? word : ` ${word}`
  }
  return [...lines, line]
}
