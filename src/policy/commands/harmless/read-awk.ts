/** By these a program of awk runs another one, reads what another one says, or takes in more code. */
const reaching = /system|getline|@|printf?[^]*>|(?<!\|)\|(?!\|)/

/**
 * Whether a program of awk only computes and prints. It is not read, since what is a text and what a pattern is hard to tell: where the letters are
 * there by which one could do more, wherever they stand, it is not.
 */
export function isHarmlessAwk(program: string): boolean {
  return !reaching.test(program)
}
