/** Filters are programs that a repository's configuration names. They are found by one run of git and turned off for the next ones. */
export const filterSettings = {
  /** Words of git that list them; it ends with 1 where there are none. */
  words: [
    'config',
    '--null',
    '--name-only',
    '--get-regexp',
    String.raw`^filter\..*\.(clean|smudge|process|required)$`,
  ],
  /** Settings that turn off what was listed, and the names of those filters. */
  turnOff(listed: string): { settings: [string, string][]; names: string[] } {
    const keys = [...new Set(listed.split('\0').filter((key) => key !== ''))]
    return {
      settings: keys.map((key) => [key, key.endsWith('.required') ? 'false' : '']),
      names: [...new Set(keys.map((key) => key.slice('filter.'.length, key.lastIndexOf('.'))))],
    }
  },
} as const
