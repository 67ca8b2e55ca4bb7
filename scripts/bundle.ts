// Bundles the JavaScript of each door into a few files, so that they load fast.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown, type OutputChunk, type Plugin } from 'rolldown'
import { bundleConsole } from './bundle-console.ts'
import { createChunks } from './chunks.ts'
import { doors } from './doors.ts'
import { nameLicenses } from './name-licenses.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

type Manifest = Record<'dependencies' | 'peerDependencies', Record<string, string>>

/** Writes the bundle into this folder, which lies beside a package.json; with entries of `more` besides those of the package. */
export async function bundleInto(dir: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const { dependencies, peerDependencies } = manifest
  const packages = Object.keys({ ...dependencies, ...peerDependencies })
  const { plugin: chunks, groups } = createChunks()
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
    plugins: [chunks, asScripts, nameLicenses(join(dir, 'THIRD-PARTY-NOTICES.txt'))],
    // Names of sources would be a hundredth of the package.
    experimental: { attachDebugInfo: 'none' },
    // What an older Node cannot read, it could not even refuse.
    transform: { target: 'es2024' },
  })
  // Scripts, and not modules: the compiled code of a script can be kept after a run. Files in chunks/ lie as deep as those in cli/ and workers/, so that
  // all find package.json at the same place.
  const { output } = await bundle.write({
    dir,
    format: 'cjs',
    entryFileNames: ({ name }) => (name.includes('/') ? '[name].cjs' : 'chunks/[name].cjs'),
    // What is compiled of a file is kept under its name, which therefore changes with what it holds.
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    comments: false,
    codeSplitting: { groups },
  })
  for (const each of output)
    if (each.type === 'chunk' && each.isEntry && !/^(?:cli|workers)\//.test(each.name)) writeDoor(dir, each)
  await bundle.close()
  await bundleConsole(join(dir, 'console'))
  // The engine of programs, which their worker loads.
  copyFileSync(
    join(root, 'node_modules/@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm'),
    join(dir, 'workers', 'quickjs.wasm'),
  )
}

/** Writes the module that hands on the names of an entry, for `import`. */
function writeDoor(dir: string, { name, fileName, exports }: OutputChunk): void {
  const file = join(dir, `${name}.js`)
  mkdirSync(dirname(file), { recursive: true })
  const from = relative(dirname(file), join(dir, fileName))
  const path = from.startsWith('.') ? from : `./${from}`
  const names = exports.join(', ')
  writeFileSync(
    file,
    names === ''
      ? `import '${path}'\nexport {}\n`
      : `import door from '${path}'\nexport const { ${names} } = door\n`,
  )
}

/**
 * Makes chunks what `bin/load-program.cjs` can run: a script imports nothing, and one byte a character is read and scanned fastest. What is not in ASCII
 * stands in texts and patterns only.
 */
const asScripts: Plugin = {
  name: 'handrail-scripts',
  generateBundle(_options, bundle) {
    for (const each of Object.values(bundle)) {
      if (each.type !== 'chunk') continue
      each.code = each.code
        .replace(/\bimport\((["']node:[\w/]+["'])\)/g, 'Promise.resolve(require($1))')
        .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      const outside = each.dynamicImports.filter((name) => !(name in bundle) && !name.startsWith('node:'))
      if (outside.length > 0)
        throw new Error(
          `${each.fileName} imports ${outside.join(', ')}, which is not in the bundle. Use importPackage of src/kit/import-package.ts.`,
        )
    }
  },
}
