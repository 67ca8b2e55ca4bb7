// Bundles the JavaScript of each door into a few files, so that they load fast.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

type Manifest = Record<'dependencies' | 'peerDependencies', Record<string, string>>

/** Writes the bundle into this folder, which lies beside a package.json; with entries of `more` besides those of the package. */
export async function bundleInto(dir: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const { dependencies, peerDependencies } = manifest
  const packages = Object.keys({ ...dependencies, ...peerDependencies })
  const bundle = await rolldown({
    cwd: root,
    input: {
      index: 'src/index.ts',
      'cedar/index': 'src/policy/cedar/index.ts',
      'testing/index': 'src/testing/index.ts',
      'cli/main': 'src/cli/main.ts',
      // Run in threads of their own.
      'workers/page-worker': 'src/sandboxes/pages/page-worker.ts',
      'workers/sandbox-writer': 'src/sandboxes/sandbox-runtime/writer-worker.ts',
      // Run as a process of its own.
      'workers/launch-programs': 'src/sandboxes/programs/launcher/launch-programs.ts',
      ...more,
    },
    external: [/^node:/, ...packages.map((name) => new RegExp(`^${name}(/|$)`))],
    platform: 'node',
    // What an older Node cannot read, it could not even refuse.
    transform: { target: 'es2024' },
  })
  // Files in chunks/ lie as deep as those in cli/, so that both find package.json at the same place.
  await bundle.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    comments: false,
  })
  await bundle.close()
}
