import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

/** Reads the pages, once, from the folder that they were bundled into. No path leads anywhere else. */
export function readAssets(folder: string): Assets {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const found = new Map<string, Asset>(
    names.flatMap((name) => {
      const type = types[extname(name)]
      if (type === undefined) return []
      const asset = { bytes: new Uint8Array(readFileSync(join(folder, name))), type }
      return [[`/console/${name}`, asset] as const]
    }),
  )
  return (path) => found.get(path)
}
