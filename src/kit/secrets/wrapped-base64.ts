/** A line break inside of Base64, with what indents the next line; as it is, or as JSON writes it. */
const lineBreak = String.raw`(?:(?:\r?\n|(?:\\r)?\\n)[ \t]{0,16})?`

/** So many letters of a run are compared; what goes on behind them is the rest of it. */
const compared = 256

/** The source of a pattern for a run of Base64 that may be wrapped over lines, wherever they end. */
export function wrappedPattern(core: string): string {
  const letters = Array.from(core.slice(0, compared), (letter) => letter.replace('+', String.raw`\+`))
  const rest =
    core.length <= compared ? '' : String.raw`[A-Za-z0-9+/\s\\]{0,${longestWrapped(core) - compared}}`
  return letters.join(lineBreak) + rest
}

/** How many letters it may take at most: lines are not shorter than 60 letters, but the first and the last. */
export function longestWrapped(core: string): number {
  return core.length + Math.ceil(core.length / 60 + 2) * 20
}

/** What such a run has in it however it is wrapped: a line that short is none. */
export function wrappedSeeds(core: string): string[] {
  return [core.slice(0, 4), core.slice(4, 8)]
}

/** How many letters at the end of these lines may begin such a run that goes on in the next line. */
export function openWrapped(lines: string, cores: readonly string[]): number {
  if (cores.length === 0 || !/[A-Za-z0-9+/]{16}\r?\n$/.test(lines)) return 0
  const run = /[A-Za-z0-9+/\r\n \t]{1,1024}$/.exec(lines)?.[0] ?? ''
  const letters = run.replaceAll(/\s/g, '')
  const open = Math.max(0, ...cores.map((core) => longestStart(letters, core)))
  let at = run.length
  for (let left = open; left > 0; at--) if (/\S/.test(run.charAt(at - 1))) left--
  return run.length - at
}

/** The longest beginning of the core that the letters end with, but not all of it. */
function longestStart(letters: string, core: string): number {
  const last = letters.slice(-1)
  for (let at = core.lastIndexOf(last, core.length - 2); at >= 0; at = core.lastIndexOf(last, at - 1)) {
    if (letters.endsWith(core.slice(0, at + 1))) return at + 1
    if (at === 0) break
  }
  return 0
}
