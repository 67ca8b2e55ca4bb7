import { randomFillSync } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const pool = new Uint8Array(4096)
let used = pool.length
/** Every two letters. */
const pairs = Array.from(
  { length: 1024 },
  (_, at) => `${alphabet.charAt(at >> 5)}${alphabet.charAt(at & 31)}`,
)
let lastTime = Number.NaN
let lastLetters = ''

/** So many random letters, of 5 bits each: ids of one millisecond do not meet by chance, and none is a secret. */
const randomLetters = 10

/** A new id: the prefix, 9 letters of time in milliseconds, and random letters. Sorts by time. */
export function newId(prefix: string, now: number): string {
  if (used + randomLetters > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  let random = ''
  for (let i = 0; i < randomLetters; i += 2)
    random += pairs[(((pool[used++] ?? 0) & 31) << 5) | ((pool[used++] ?? 0) & 31)]
  if (now !== lastTime) {
    lastLetters = timeLetters(now)
    lastTime = now
  }
  return `${prefix}_${lastLetters}${random}`
}

/** Whether an id was made in an earlier millisecond than another one. False for what is not an id, or has no time in it. */
export function isBefore(id: string, other: string): boolean {
  const [one, two] = [id, other].map(
    (each) => /^[a-z]+_([0-9a-z]{9})[0-9a-z]{10}(?![0-9a-z])/.exec(each)?.[1],
  )
  return one !== undefined && two !== undefined && one < two
}

function timeLetters(now: number): string {
  // A clock that was never set may say a time before 1970.
  let rest = Math.max(0, now)
  let letters = ''
  for (let i = 0; i < 9; i++) {
    letters = alphabet[rest % 32] + letters
    rest = Math.floor(rest / 32)
  }
  return letters
}
