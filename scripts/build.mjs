// Compiles src/ to dist/: plain JavaScript and its declarations. What was there before is gone.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const typescript = createRequire(import.meta.url).resolve('typescript/package.json')

rmSync(join(root, 'dist'), { recursive: true, force: true })
const done = spawnSync(
  process.execPath,
  [join(dirname(typescript), 'bin', 'tsc'), '-p', 'tsconfig.build.json'],
  {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  },
)
if (done.error !== undefined) process.stderr.write(`handrail: cannot start tsc: ${done.error.message}\n`)
process.exit(done.status ?? 1)
