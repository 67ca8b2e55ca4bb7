#!/usr/bin/env node
// Starts the command line, on a Node that it can run on. Plain JavaScript, so that an old Node can read it. It imports what it needs when it needs it: an
// agent waits for each hook.
const needed = 24

/** What was read of standard input, if an agent asks and no server answered. */
const read = isHook(process.argv) && process.env.HANDRAIL_LAUNCHED === undefined ? await askServer() : []
if (read === undefined) {
  // A server answered.
} else if (Number(/^v(\d+)\./.exec(process.version)?.[1]) >= needed) {
  await runHere(read)
} else {
  const { startNewNode } = await import('./start-new-node.mjs')
  startNewNode(needed, read)
}

/** Whether an agent asks: that is quicker if a server answers. */
function isHook([, , command, agent]) {
  return command === 'hook' && agent !== undefined && !['install', 'uninstall'].includes(agent)
}

/** Undefined if a running "handrail serve" answered, which is quicker; else what was read of standard input meanwhile. */
async function askServer() {
  const { askServer: ask } = await import('./ask-server.mjs')
  const { code, read: pieces } = await ask(process.argv.slice(3))
  if (code !== undefined) process.exitCode = code
  return pieces
}

async function runHere(pieces) {
  if (process.env.HANDRAIL_LAUNCHED !== undefined) endWithLauncher()
  if (pieces.length > 0) putBack(pieces)
  const argv = process.argv.slice(2)
  const source = new URL('../src/cli/main.ts', import.meta.url)
  if (process.getBuiltinModule('node:fs').existsSync(source)) {
    // Not where Node keeps it, below the temporary files: anybody may make a folder there first.
    const compiled = new URL('../node_modules/.cache/compiled', import.meta.url)
    process.getBuiltinModule('node:module').enableCompileCache(compiled.pathname)
    const { runMain } = await import(source.href)
    return runMain(argv)
  }
  const { loadProgram } = await import('./load-program.mjs')
  const { program, keep } = loadProgram('cli/main.cjs', argv[0])
  process.once('exit', (code) => code === 0 && keep())
  await program.runMain(argv)
}

/** What was read of standard input stands there again. */
function putBack(pieces) {
  const { Readable } = process.getBuiltinModule('node:stream')
  Object.defineProperty(process, 'stdin', { value: Readable.from(pieces), configurable: true })
}

/** A launcher that is killed hands on nothing, and what it started would go on alone. */
function endWithLauncher() {
  delete process.env.HANDRAIL_LAUNCHED
  // Explicitly, so that the listener does not keep the process alive.
  process.channel?.unref()
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
}
