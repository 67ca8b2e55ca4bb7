/** The one line of an error, or of what a failed process printed, that says what went wrong. */
export function faultLine(problem: unknown): string {
  const text = problem instanceof Error ? problem.message : String(problem)
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.find((line) => /^(handrail|\w*Error)\b/.test(line)) ?? lines[0] ?? 'it gave no reason'
}
