#!/usr/bin/env node
// Finds a Node that Handrail can run on and starts the command line there. Plain JavaScript, so that an old Node can read it.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire, enableCompileCache } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const needed = 24

if (Number(process.versions.node.split('.')[0]) >= needed) {
  enableCompileCache?.()
  const source = join(root, 'src', 'cli', 'main.ts')
  const main = existsSync(source) ? source : join(root, 'dist', 'cli', 'main.js')
  const { runMain } = await import(pathToFileURL(main).href)
  await runMain(process.argv.slice(2))
} else {
  const node = findNode()
  if (node === undefined) {
    process.stderr.write(
      `handrail needs Node ${needed} or later; this is ${process.version}. Install it, or run: npm install node@${needed}\n`,
    )
    process.exit(2)
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)))
}

/** The `node` package beside Handrail, where it is installed. */
function findNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json')
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return existsSync(binary) ? binary : undefined
  } catch {
    return undefined
  }
}
