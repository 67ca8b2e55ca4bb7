// Makes dist/: the JavaScript of each door bundled into a few files, so that they load fast, and the declarations that the doors lead to.
// What was there before is gone.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleInto } from './bundle.ts'
import { doors } from './doors.ts'
import { pruneDeclarations } from './prune-declarations.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
rmSync(join(root, 'dist'), { recursive: true, force: true })

await bundleInto(join(root, 'dist'))

const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
const compiler = [join(dirname(typescript), 'bin', 'tsc'), '-p', 'tsconfig.build.json']
const types = spawnSync(process.execPath, compiler, {
  cwd: root,
  // It ends before its garbage is worth collecting.
  env: { ...process.env, GOGC: 'off' },
  stdio: ['ignore', 'inherit', 'inherit'],
})
if (types.error !== undefined) process.stderr.write(`handrail: cannot start tsc: ${types.error.message}\n`)
if (types.status !== 0) process.exit(types.status ?? 1)

pruneDeclarations(
  join(root, 'dist'),
  doors.map(({ file }) => `${file}.d.ts`),
)
process.stderr.write(
  'handrail: built; install it into a project with: npm install --prefix <project> "' + root + '"\n',
)
