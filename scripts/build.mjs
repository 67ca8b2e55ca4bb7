// Makes dist/: the JavaScript of each door bundled into a few files, so that they load fast, and the declarations that the doors lead to.
// What was there before is gone.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { pruneDeclarations } from './prune-declarations.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const packages = Object.keys({ ...dependencies, ...peerDependencies })
const external = [/^node:/, ...packages.map((name) => new RegExp(`^${name}(/|$)`))]

rmSync(join(root, 'dist'), { recursive: true, force: true })

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
    'workers/launch-programs': 'src/sandboxes/launcher/launch-programs.ts',
  },
  external,
  platform: 'node',
})
// Files in chunks/ lie as deep as those in cli/, so that both find package.json at the same place.
await bundle.write({
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  comments: false,
})
await bundle.close()

const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
const compiler = [join(dirname(typescript), 'bin', 'tsc'), '-p', 'tsconfig.build.json']
const types = spawnSync(process.execPath, compiler, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
if (types.error !== undefined) process.stderr.write(`handrail: cannot start tsc: ${types.error.message}\n`)
if (types.status !== 0) process.exit(types.status ?? 1)

pruneDeclarations(join(root, 'dist'), ['index.d.ts', 'policy/cedar/index.d.ts', 'testing/index.d.ts'])
