#!/usr/bin/env node
// Starts the command line, on a Node that it can run on. Plain JavaScript, so that an old Node can read it. It imports what it needs when it needs it: an
// agent waits for each hook.
const { existsSync, lstatSync } = require('node:fs')
const { isAbsolute, join, resolve } = require('node:path')

const needed = 24

/** There only if this is not the package. */
const source = join(__dirname, '..', 'src', 'cli', 'main.ts')

/** Commands that another process can run as this one would. None of them loads programs of the person, which may change from one to the next. */
const commands = new Set([
  'approvals',
  'artifact',
  'call',
  'calls',
  'consent',
  'evidence',
  'explain',
  'pause',
  'policy',
  'resume',
  'runs',
  'sessions',
  'skills',
  'tasks',
  'tools',
  'undo',
])

void main()

async function main() {
  // What was read of standard input, if no server answered.
  const read = process.env.HANDRAIL_LAUNCHED === undefined ? await askServer(process.argv.slice(2)) : []
  if (read === undefined) return
  if (Number(/^v(\d+)\./.exec(process.version)?.[1]) >= needed) return runHere(read)
  const { startNewNode } = await import('./start-new-node.mjs')
  startNewNode(needed, read)
}

/** Undefined if a running "handrail serve" answered, which is quicker; else what was read of standard input meanwhile. */
async function askServer([command, ...argv]) {
  const isHook = command === 'hook' && argv.length > 0 && !['install', 'uninstall'].includes(argv[0])
  // Sources may change from one command to the next.
  if (!isHook && (!commands.has(command) || existsSync(source))) return []
  const path = findSocket(argv)
  if (path === undefined) return []
  if (isHook) {
    const { askAboutHook } = require('./ask-hook.cjs')
    const { code, read: pieces } = await askAboutHook(path, argv)
    if (code !== undefined) process.exitCode = code
    return pieces
  }
  const { askForProcess } = require('./ready/ask.cjs')
  return (await askForProcess(path, [command, ...argv])) ? undefined : []
}

/** The socket in the home folder, if it and the folder are this person's alone. */
function findSocket(argv) {
  if (process.platform === 'win32') return undefined
  const home = findHome(argv)
  if (home === undefined) return undefined
  const path = `${home}/serve.sock`
  try {
    const own = process.getuid()
    const [folder, socket] = [lstatSync(home), lstatSync(path)]
    const isOwn = (stat, others) => stat.uid === own && (stat.mode & others) === 0
    return socket.isSocket() && isOwn(socket, 0o077) && folder.isDirectory() && isOwn(folder, 0o022)
      ? path
      : undefined
  } catch {
    return undefined
  }
}

function findHome(argv) {
  const at = argv.findIndex((word) => word === '--home' || word.startsWith('--home='))
  if (at >= 0) return resolve(argv[at].slice('--home='.length) || argv[at + 1] || '.')
  const named = process.env.HANDRAIL_HOME || join(require('node:os').homedir(), '.handrail')
  return isAbsolute(named) ? named : undefined
}

async function runHere(pieces) {
  if (process.env.HANDRAIL_LAUNCHED !== undefined) endWithLauncher()
  if (pieces.length > 0) putBack(pieces)
  const argv = process.argv.slice(2)
  if (existsSync(source)) {
    // Not where Node keeps it, below the temporary files: anybody may make a folder there first.
    require('node:module').enableCompileCache(join(__dirname, '..', 'node_modules', '.cache', 'compiled'))
    const { runMain } = await import(require('node:url').pathToFileURL(source).href)
    return runMain(argv)
  }
  const { loadProgram } = require('./load-program.cjs')
  const { program, keep } = loadProgram('cli/main.cjs', argv[0])
  process.once('exit', (code) => code === 0 && keep())
  await program.runMain(argv)
}

/** What was read of standard input stands there again. */
function putBack(pieces) {
  const { Readable } = require('node:stream')
  Object.defineProperty(process, 'stdin', { value: Readable.from(pieces), configurable: true })
}

/** A launcher that is killed hands on nothing, and what it started would go on alone. */
function endWithLauncher() {
  delete process.env.HANDRAIL_LAUNCHED
  // Explicitly, so that the listener does not keep the process alive.
  process.channel?.unref()
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
}
