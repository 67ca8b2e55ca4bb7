// Bundles the pages of the console into one script, what it loads as it is needed, and one style sheet.
import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { nameLicenses } from './name-licenses.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Writes what `handrail serve` sends to browsers into this folder. */
export async function bundleConsole(dir: string): Promise<void> {
  mkdirSync(dir, { recursive: true })
  const bundle = await rolldown({
    cwd: root,
    input: { console: 'console/main.tsx' },
    platform: 'browser',
    tsconfig: 'console/tsconfig.json',
    plugins: [nameLicenses(join(dir, 'THIRD-PARTY-NOTICES.txt'))],
  })
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name].js' }
  await bundle.write({ dir, format: 'esm', ...names, minify: true, comments: false })
  await bundle.close()
  for (const name of ['index.html', 'console.css', 'icon.svg'])
    copyFileSync(join(root, 'console', name), join(dir, name))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleConsole(join(root, 'dist', 'console'))
