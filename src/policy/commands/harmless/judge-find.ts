import type { ShellWord } from '../../../kit/shell/reading.ts'
import { isKnown } from '../command-view.ts'
import { isOperand } from './read-options.ts'

/** What only tests, prints or shapes the search, each with the number of words that belong to it. */
const primaries: ReadonlyMap<string, number> = new Map([
  ...toEntries(
    0,
    `( ) ! , -H -L -P -O0 -O1 -O2 -O3 -a -and -o -or -not -true -false -print -print0 -ls -prune -quit -daystart -depth -d
    -follow -ignore_readdir_race -noignore_readdir_race -mount -xdev -x -noleaf -nouser -nogroup -empty -executable -readable
    -writable -warn -nowarn`,
  ),
  ...toEntries(
    1,
    `-maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname -inum -ipath
    -iregex -iwholename -links -lname -mmin -mtime -name -newer -path -perm -regex -samefile -size -type -uid -used -user
    -wholename -xtype -printf -D`,
  ),
])

/** What runs, writes or removes. */
const reaching = '-delete -exec -execdir -files0-from -fls -fprint -fprint0 -fprintf -ok -okdir'.split(' ')

function toEntries(count: number, names: string): [string, number][] {
  return names.split(/\s+/).map((name) => [name, count])
}

/** Whether a search only looks. */
export function judgeFind(words: readonly ShellWord[]): boolean {
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    if (word === undefined) return false
    const count = isKnown(word) ? (primaries.get(word.text) ?? countOf(word.text)) : undefined
    if (count === undefined && !isOperand(word) && !isOtherGlob(word)) return false
    for (let each = 0; each < (count ?? 0); each++) {
      const value = words[++at]
      if (value === undefined || (value.as !== 'one' && !isOtherGlob(value))) return false
    }
  }
  return true
}

/** `-newerXY` takes a file or a time. */
function countOf(text: string): number | undefined {
  return /^-newer[aBcm][aBcmt]$/.test(text) ? 1 : undefined
}

/** Whether this stands for names of files none of which is one of the words that reach further. */
function isOtherGlob({ text, as }: ShellWord): boolean {
  if (as !== 'alike' || !/^[\w.*?/+@%-]+$/.test(text)) return false
  const source = text.replaceAll(/[.+]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')
  const glob = new RegExp(`^${source}$`)
  return !reaching.some((each) => glob.test(each)) && [...primaries.keys()].every((each) => !glob.test(each))
}
