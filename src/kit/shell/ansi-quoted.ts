import { Unreadable } from './cursor.ts'

const letters: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** The value of what stands between `$'` and `'`. Throws Unreadable where it has a NUL, which ends the value in some shells. */
export function ansiQuoted(body: string): string {
  const value = body.replaceAll(
    /\\(?:x[\da-fA-F]{1,2}|u[\da-fA-F]{1,4}|U[\da-fA-F]{1,8}|[0-7]{1,3}|c[^]|[^])/g,
    toValue,
  )
  if (value.includes('\0')) throw new Unreadable('a NUL in a quoted word')
  return value
}

/** What a backslash and what follows it stand for. */
function toValue(escape: string): string {
  const kind = escape.charAt(1)
  const rest = escape.slice(2)
  if (/[0-7]/.test(kind)) return String.fromCodePoint(Number.parseInt(escape.slice(1), 8) & 0xff)
  if (rest === '') return letters[kind] ?? (/[\\'"?]/.test(kind) ? kind : escape)
  if (kind === 'c') return String.fromCodePoint(rest.charCodeAt(0) & 0x1f)
  const code = Number.parseInt(rest, 16)
  return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code)
}
