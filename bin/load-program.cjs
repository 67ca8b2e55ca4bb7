// Loads the program as it is packed, with what an earlier run of the same command compiled: Node keeps that of modules only as far as it compiles them at
// once, and most functions are compiled when they are first called. It lies beside the program, under the same owner, and is obeyed only if no one else
// can write it: who can is able to change the program itself.
const builtin = process.getBuiltinModule
const {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} = builtin('node:fs')
const { dirname, join, resolve } = builtin('node:path')
const { createRequire } = builtin('node:module')
const { Script } = builtin('node:vm')

const folder = resolve(__dirname, '..', 'dist')
const kept = join(folder, 'compiled')
const chunkBytes = 65_536

/** What this file of dist/ exports, and a function that keeps what was compiled for the next run of the command, if anything was. */
function loadProgram(file, command) {
  const name = /^[a-z][a-z0-9-]*$/.test(command ?? '') ? command : 'help'
  const place = join(kept, `${name}-${process.version}-${process.arch}`)
  const owner = process.getuid && statSync(folder).uid
  const before = findKept(place, owner)
  const scripts = new Map()
  const exported = new Map()

  function load(path) {
    const known = exported.get(path)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    exported.set(path, module)
    const { script, stamp, run } = compile(path, before.get(path))
    scripts.set(path, { script, stamp })
    run(module.exports, (id) => requireFrom(path, id), module, path, dirname(path))
    return module.exports
  }

  // A script cannot import what is not in the bundle: one file does that for all.
  function requireFrom(path, id) {
    return id.startsWith('.') && !/\/outside-/.test(id)
      ? load(resolve(dirname(path), id))
      : (builtin(id) ?? createRequire(path)(id))
  }

  const program = load(join(folder, file))
  return {
    program,
    keep: () => {
      // V8 says whether it took what was kept, if anything was handed to it.
      const isNew = [...scripts.values()].some(({ script }) => script.cachedDataRejected !== false)
      if (isNew && mayKeep(owner)) writeKept(place, piecesOf(scripts, before))
    },
  }
}

function compile(path, before) {
  // Of before it is read: what takes its place meanwhile, or while the program runs, has another one.
  const stamp = stampOf(path)
  const source = readFileSync(path, 'latin1')
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: path,
    ...(before !== undefined && before.stamp === stamp && { cachedData: before.read() }),
  })
  return { script, stamp, run: script.runInThisContext() }
}

/** V8 itself looks only at the length of a source. */
function stampOf(path) {
  const { mtimeMs, size } = statSync(path)
  return `${size}-${mtimeMs}`
}

/** Whether this is there, of this owner, and no one else can write it. Windows has no such marks: there it is as the folder of the program is. */
function isOwn(path, owner) {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined || stat.isSymbolicLink()) return false
  return owner === undefined || (stat.uid === owner && (stat.mode & 0o022) === 0)
}

/** What another user keeps would be obeyed by no one, and so would be what lies in a folder of others. */
function mayKeep(owner) {
  if (owner !== undefined && process.getuid() !== owner) return false
  return lstatSync(kept, { throwIfNoEntry: false }) === undefined || isOwn(kept, owner)
}

/** What this run loaded as it is compiled now, and what it did not load as it was kept. */
function piecesOf(scripts, before) {
  const pieces = new Map()
  for (const [path, { stamp, read }] of before)
    if (!scripts.has(path)) pieces.set(path, { stamp, data: read() })
  for (const [path, { script, stamp }] of scripts)
    pieces.set(path, { stamp, data: script.createCachedData() })
  return pieces
}

/** What is kept there, if this user can read it and may obey it. */
function findKept(place, owner) {
  try {
    return isOwn(kept, owner) && isOwn(place, owner) ? readKept(place) : new Map()
  } catch {
    return new Map()
  }
}

/**
 * A line that lists the pieces, and then those: each begins where V8 could read it in place. A piece is read when it is asked for, so that a program that
 * goes on for long holds none of them; the file stays open, as another run may put another one in its place.
 */
function readKept(place) {
  const file = openSync(place, 'r')
  const list = readLine(file)
  const pieces = new Map()
  let at = aligned(list.length + 1)
  for (const [path, stamp, length] of JSON.parse(list.toString())) {
    const from = at
    pieces.set(join(folder, path), { stamp, read: () => readPiece(file, from, length) })
    at = aligned(at + length)
  }
  return pieces
}

function readLine(file) {
  const read = []
  for (let end = -1; end < 0;) {
    const chunk = readPiece(file, read.length * chunkBytes, chunkBytes)
    end = chunk.indexOf(10)
    read.push(end < 0 ? chunk : chunk.subarray(0, end))
    if (chunk.length === 0) break
  }
  return Buffer.concat(read)
}

/** Less if the file ends before. */
function readPiece(file, from, length) {
  const piece = Buffer.allocUnsafeSlow(length)
  return piece.subarray(0, readSync(file, piece, 0, length, from))
}

function writeKept(place, pieces) {
  const names = [...pieces].map(([path, { stamp, data }]) => [
    path.slice(folder.length + 1),
    stamp,
    data.length,
  ])
  const list = Buffer.from(`${JSON.stringify(names)}\n`)
  const made = `${place}-${process.pid}`
  try {
    mkdirSync(kept, { mode: 0o755, recursive: true })
    const file = openSync(made, 'wx', 0o644)
    try {
      let at = 0
      for (const piece of [list, ...[...pieces.values()].map(({ data }) => data)])
        at = aligned(at + writeSync(file, piece, 0, piece.length, at))
      // Once it has its name, it is whole.
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(made, place)
  } catch {
    // Where the program may not write, the next run compiles again.
    rmSync(made, { force: true })
  }
}

function aligned(at) {
  return Math.ceil(at / 8) * 8
}

module.exports = { loadProgram }
