import { realpathSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownFile } from '../../kit/own-file.ts'
import { quoteArgv } from '../../kit/text/quote-argv.ts'

/** What to type so that this very program runs, from any folder: `handrail` where the shell finds it under that name, else its path. */
export function commandName(): string {
  const script = fileURLToPath(ownFile('bin/handrail.cjs'))
  const own = realPlaceOf(script)
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder))
  return own !== undefined && folders.some((folder) => realPlaceOf(join(folder, 'handrail')) === own)
    ? 'handrail'
    : quoteArgv(['node', own ?? script])
}

function realPlaceOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
