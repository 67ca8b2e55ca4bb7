import { existsSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** A file of the pages, as it is sent. */
export interface Asset {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly type: string
}

/** The files of the pages, by their path on the server. Undefined for one that there is not. */
export type Assets = (path: string) => Asset | undefined

const types: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The only files that there are: no path leads anywhere else. */
const names = ['index.html', 'console.js', 'console.css', 'icon.svg'] as const

/** Reads the pages, once, from the folder that they were bundled into. */
export function readAssets(folder: string): Assets {
  const found = new Map<string, Asset>(
    names.flatMap((name) => {
      const file = join(folder, name)
      if (!existsSync(file)) return []
      const asset = { bytes: new Uint8Array(readFileSync(file)), type: types[extname(name)] ?? '' }
      return [[`/console/${name}`, asset] as const]
    }),
  )
  return (path) => found.get(path)
}
