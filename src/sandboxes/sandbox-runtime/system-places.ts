import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'

/** What programs need of a machine, and nothing that could hold a secret. */
const places: { readonly [platform: string]: readonly string[] | undefined } = {
  darwin: [
    '/usr',
    '/bin',
    '/sbin',
    '/System',
    '/Library/Apple',
    '/Library/Developer',
    '/Library/Frameworks',
    '/Library/Java',
    '/Applications/Xcode.app',
    '/private/etc/ssl',
    '/private/var/db/dyld',
    '/private/var/db/timezone',
    '/private/var/db/xcode_select_link',
    '/private/var/select',
    ...['null', 'zero', 'random', 'urandom', 'fd', 'dtracehelper'].map((name) => `/dev/${name}`),
  ],
  linux: [
    '/usr',
    ...['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].map((name) => `/${name}`),
    ...['alternatives', 'ld.so.cache', 'localtime', 'os-release', 'ssl/openssl.cnf'].map(
      (name) => `/etc/${name}`,
    ),
  ],
}

/**
 * Links that programs on macOS go through to other places, which are readable or not by themselves. As patterns with a class of one
 * letter: a name would be taken for what the link leads to.
 */
export const linksOfSystem: readonly string[] =
  process.platform === 'darwin' ? ['/[e]tc', '/[t]mp', '/[v]ar'] : []

/** What lies beside a folder of programs and belongs to them, as in Homebrew and in versions of Node. */
const besidePrograms = ['lib', 'libexec', 'share', 'Cellar', 'Frameworks', 'opt']

/** What is readable of the machine: the system's own programs and those of this PATH, as far as it is there. */
export function findSystemPlaces(path: string): string[] {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder))
  const all = [...(places[process.platform] ?? []), ...folders.flatMap(placesBeside)]
  return [...new Set(all)].filter((place) => existsSync(place))
}

/** A folder of programs with the libraries beside it; never the root directory or a folder right below it. */
export function placesBeside(folder: string): string[] {
  const above = dirname(folder)
  const holdsPrograms = /^s?bin$/.test(basename(folder)) && above !== '/'
  return holdsPrograms ? [folder, ...besidePrograms.map((name) => join(above, name))] : [folder]
}
