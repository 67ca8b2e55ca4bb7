import { ToolFailure } from '../../../contract/base/errors.ts'
import type { UnifiedDiff } from './parse-unified-diff.ts'

/**
 * Refuses a diff whose headers name another file than one of `names`, with `patch_path_mismatch`. Prefixes such as `a/` and `b/`,
 * time stamps and git's quotes are understood. Where the diff creates a file (`--- /dev/null`), `creates` is true.
 */
export function checkDiffNames(diff: UnifiedDiff, names: readonly string[]): { creates: boolean } {
  const { oldName, newName, gitNames } = diff
  if (newName !== undefined && readName(newName) === '/dev/null') {
    throw new ToolFailure({
      reason: 'patch_apply_failed',
      message: 'The diff deletes the file ("+++ /dev/null"); only its text can be changed.',
    })
  }
  const creates = oldName !== undefined && readName(oldName) === '/dev/null'
  const toCheck = [creates ? undefined : oldName, newName].filter((name) => name !== undefined)
  const wrong = toCheck.find((name) => !namesFile(readName(name), names))
  if (wrong !== undefined) throw mismatch(readName(wrong), names)
  if (gitNames !== undefined && !gitNamesFile(gitNames, names)) throw mismatch(gitNames, names)
  return { creates }
}

/** The name without quotes and without what follows a tab, which is a time stamp. */
function readName(header: string): string {
  if (header.startsWith('"')) return unquote(header)
  const [name = ''] = header.split('\t')
  return name.trimEnd()
}

/** C-style quotes as git writes them: octal bytes of UTF-8 and the usual letters. */
function unquote(quoted: string): string {
  const inside = /^"((?:[^"\\]|\\.)*)"/.exec(quoted)?.[1] ?? quoted
  const bytes: Buffer[] = []
  for (const [part] of inside.matchAll(/\\[0-7]{3}|\\.|[^\\]+/g)) {
    if (!part.startsWith('\\')) bytes.push(Buffer.from(part))
    else if (part.length === 4) bytes.push(Buffer.from([Number.parseInt(part.slice(1), 8) & 0xff]))
    else bytes.push(Buffer.from(letters[part] ?? part.slice(1)))
  }
  return Buffer.concat(bytes).toString()
}

const letters: { readonly [escape: string]: string } = {
  '\\n': '\n',
  '\\t': '\t',
  '\\r': '\r',
  '\\a': '\x07',
  '\\b': '\b',
  '\\f': '\f',
  '\\v': '\v',
}

function namesFile(written: string, names: readonly string[]): boolean {
  // `a/` and `b/`, or the `i/`, `w/`, `c/`, `o/` of git's mnemonic prefixes.
  const forms = [written, written.replace(/^[abciow]\//, ''), written.replace(/^\.\//, '')]
  return forms.some((form) => names.includes(form))
}

/** `a/x b/x`: both halves name the file. Names with spaces make only a comparison of halves safe. */
function gitNamesFile(written: string, names: readonly string[]): boolean {
  if (written.startsWith('"')) {
    const second = written.slice(/^"(?:[^"\\]|\\.)*"/.exec(written)?.[0].length ?? 0).trim()
    return namesFile(unquote(written), names) && namesFile(readName(second), names)
  }
  const middle = (written.length - 1) / 2
  if (!Number.isInteger(middle) || written[middle] !== ' ') return false
  return namesFile(written.slice(0, middle), names) && namesFile(written.slice(middle + 1), names)
}

function mismatch(written: string, names: readonly string[]): ToolFailure {
  return new ToolFailure({
    reason: 'patch_path_mismatch',
    message: `The diff names ${JSON.stringify(written.slice(0, 200))}, but the call is for ${JSON.stringify(names[0])}. Make one call for each file, with the path that the diff names.`,
    data: { diff: written.slice(0, 1_000), path: names[0] ?? '' },
  })
}
