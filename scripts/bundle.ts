// Bundles the JavaScript of each door into a few files, so that they load fast.
import { copyFileSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import rollupPluginLicense from 'rollup-plugin-license'
import { bundleConsole } from './bundle-console.ts'
import { doors } from './doors.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

// What it exports is the function itself, and not as its types say.
const license = rollupPluginLicense as unknown as typeof rollupPluginLicense.default

type Manifest = Record<'dependencies' | 'peerDependencies', Record<string, string>>

/** Writes the bundle into this folder, which lies beside a package.json; with entries of `more` besides those of the package. */
export async function bundleInto(dir: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const { dependencies, peerDependencies } = manifest
  const packages = Object.keys({ ...dependencies, ...peerDependencies })
  const bundle = await rolldown({
    cwd: root,
    input: {
      ...Object.fromEntries(doors.map(({ file }) => [file, `src/${file}.ts`])),
      'cli/main': 'src/cli/main.ts',
      // Run in threads of their own.
      'workers/page-worker': 'src/sandboxes/pages/page-worker.ts',
      'workers/isolate-worker': 'src/sandboxes/isolates/isolate-worker.ts',
      'workers/sandbox-writer': 'src/sandboxes/sandbox-runtime/writer-worker.ts',
      'workers/verify-worker': 'src/cli/commands/evidence/verify-worker.ts',
      // Run as a process of its own.
      'workers/launch-programs': 'src/sandboxes/programs/launcher/launch-programs.ts',
      ...more,
    },
    external: [/^node:/, ...packages.map((name) => new RegExp(`^${name}(/|$)`))],
    platform: 'node',
    // Its main file loads the others in a way that cannot be bundled.
    resolve: { alias: { 'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js') } },
    // The SDK of A2A makes transports that are not used, with what they need.
    treeshake: {
      manualPureFunctions: [
        'RestTransportFactory',
        'JsonRpcTransportFactory',
        'makeRest',
        'makeJsonRpc',
        'makeSemantic',
      ],
    },
    // linkedom has one, which runs in the worker of a page only.
    checks: { eval: false },
    plugins: [
      // What is bundled stays under the terms of those who wrote it.
      license({ thirdParty: { output: { file: join(dir, 'THIRD-PARTY-NOTICES.txt') } } }),
    ],
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
  await bundleConsole(join(dir, 'console'))
  // The engine of programs, which their worker loads.
  copyFileSync(
    join(root, 'node_modules/@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm'),
    join(dir, 'workers', 'quickjs.wasm'),
  )
}
