import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { search } from '../handrail/files.ts'
import type { Contender } from '../harness/contender.ts'
import { fileOfTree, needle, treeFromEnvironment } from '../harness/tree.ts'

export const ripgrep = 'ripgrep, the same flags'
export const readingFloor = 'fs.promises.readFile'

/** How Handrail calls ripgrep: the program and its arguments, without the name of it. */
interface Command {
  program: string
  argv: readonly string[]
}

function searching(name: string, choose: (seen: Command) => Command): Contender {
  return {
    name,
    otherTask: true,
    async prepare() {
      const { program, argv } = choose(await watchHandrail())
      const root = treeFromEnvironment()
      return {
        async round(calls) {
          for (let i = 0; i < calls; i++) {
            const found = await countHits(program, argv, root)
            if (found !== needle.lines) throw new Error(`ripgrep found ${found} lines, not ${needle.lines}`)
          }
        },
        close() {},
      }
    },
  }
}

/** Lets Handrail search once and looks at the process it starts, so that the flags are the same whatever they are. */
async function watchHandrail(): Promise<Command> {
  const prepared = await search.prepare()
  let seen: Command | undefined
  for (let tries = 0; seen === undefined && tries < 100; tries++) {
    let over = false
    const round = prepared.round(1).finally(() => (over = true))
    while (!over && seen === undefined) {
      seen = findCommand()
      await nextTurn()
    }
    await round
  }
  await prepared.close()
  if (seen === undefined) throw new Error('Handrail started no process with this pattern')
  return seen
}

/** The process that searches for the pattern, by what the system tells of all processes. */
function findCommand(): Command | undefined {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
      const program = readlinkSync(`/proc/${pid}/exe`)
      if (argv.includes(needle.pattern) && program.endsWith('/rg')) return { program, argv: argv.slice(1) }
    } catch {
      // It has ended meanwhile.
    }
  }
  return undefined
}

async function countHits(program: string, argv: readonly string[], root: string): Promise<number> {
  const child = spawn(program, argv, {
    cwd: root,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(child, 'close')
  return Buffer.concat(chunks).toString().split('const needle_').length - 1
}

function reading(name: string, read: (path: string) => unknown): Contender {
  return {
    name,
    otherTask: true,
    prepare() {
      const path = join(treeFromEnvironment(), fileOfTree)
      return Promise.resolve({
        async round(calls) {
          for (let i = 0; i < calls; i++) await Promise.resolve(read(path))
        },
        close() {},
      })
    },
  }
}

export const contenders = [
  searching(ripgrep, (seen) => seen),
  searching('ripgrep, no flags', ({ program }) => ({
    program,
    argv: ['--no-config', '-e', needle.pattern, '--', '.'],
  })),
  reading(readingFloor, (path) => readFile(path)),
  reading('fs.readFileSync', (path) => readFileSync(path)),
]
