// The doors of the package, as its manifest names them.
import { readFileSync } from 'node:fs'

/** One door: what a program calls it, and its files without their endings, below `src/` and `dist/`. */
export interface Door {
  readonly name: string
  readonly file: string
}

type Exports = Readonly<Record<string, string | { readonly 'handrail-source': string }>>

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  exports: Exports
}

export const doors: readonly Door[] = Object.entries(manifest.exports).flatMap(([path, target]) => {
  if (typeof target === 'string') return []
  const [, file = ''] = /^\.\/src\/(.+)\.ts$/.exec(target['handrail-source']) ?? []
  return [{ name: path.replace('.', 'handrail'), file }]
})
