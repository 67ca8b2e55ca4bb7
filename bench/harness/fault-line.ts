/** The one line of an error, or of what a failed process printed, that says what went wrong. */
export function faultLine(problem: unknown): string {
  const text = problem instanceof Error ? problem.message : String(problem)
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const start = Math.max(
    0,
    lines.findIndex((line) => /^(handrail|\w*Error)\b/.test(line)),
  )
  const line = lines[start] ?? 'it gave no reason'
  return line.endsWith(':') ? `${line} ${lines[start + 1]?.trim()}` : line
}
