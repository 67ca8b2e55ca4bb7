import type { CommandOutcome } from '../../contract/services/sandbox.ts'

/** What programs say of a place that they find read-only or cannot move. */
const refused =
  /Device or resource busy|Read-only file system|Operation not permitted|Invalid cross-device link|EBUSY|EROFS|EXDEV/i

/** The lines in which a program says that something could not be changed. */
export function readRefusals({ stdout, stderr }: Pick<CommandOutcome, 'stdout' | 'stderr'>): string[] {
  return [stdout.head, stdout.tail, stderr.head, stderr.tail]
    .filter((text) => refused.test(text))
    .flatMap((text) => text.split('\n'))
    .filter((line) => refused.test(line))
}

const partOfName = /[\w.-]/
const partOfPath = /[\w./-]/

/** Whether a text has this path in it. Unless it is `whole`, the text may name it as the end, or as the start, of a longer one. */
export function isNamed(path: string, text: string, whole?: { start?: true; end?: true }): boolean {
  const before = whole?.start === true ? partOfPath : partOfName
  const after = whole?.end === true ? partOfPath : partOfName
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1))
    if (!before.test(text.charAt(at - 1)) && !after.test(text.charAt(at + path.length))) return true
  return false
}
