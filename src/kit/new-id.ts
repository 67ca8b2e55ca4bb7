import { randomFillSync } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const pool = new Uint8Array(4096)
let used = pool.length

/** A new id: the prefix, 9 letters of time in milliseconds, 13 random letters (65 bits). Sorts by time. */
export function newId(prefix: string, now: number): string {
  if (used + 13 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  let random = ''
  for (let i = 0; i < 13; i++) random += alphabet[(pool[used++] ?? 0) & 31]
  return `${prefix}_${timeLetters(now)}${random}`
}

function timeLetters(now: number): string {
  let rest = now
  let letters = ''
  for (let i = 0; i < 9; i++) {
    letters = alphabet[rest % 32] + letters
    rest = Math.floor(rest / 32)
  }
  return letters
}
