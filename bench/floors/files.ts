import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Contender } from '../harness/contender.ts'
import { fileOfTree, needle, treeFromEnvironment } from '../harness/tree.ts'

export const ripgrep = 'ripgrep, same flags'
export const readingFloor = 'fs.promises.readFile'

/** The flags that Handrail's search hands to ripgrep. */
const flags = ['--no-config', '--json', '--hidden', '--sort=path']

const search: Contender = {
  name: ripgrep,
  otherTask: true,
  prepare() {
    const root = treeFromEnvironment()
    const program = findRipgrep()
    return Promise.resolve({
      async round(calls) {
        for (let i = 0; i < calls; i++) {
          const found = await run(program, root)
          if (found !== needle.lines) throw new Error(`ripgrep found ${found} lines, not ${needle.lines}`)
        }
      },
      close() {},
    })
  },
}

/** The ripgrep that the installed Handrail uses. */
function findRipgrep(): string {
  const handrail = createRequire(
    join(process.env.HANDRAIL_INSTALLED ?? '', 'node_modules/handrail/package.json'),
  )
  const { rgPath }: { rgPath: string } = handrail('@vscode/ripgrep')
  return rgPath
}

async function run(program: string, root: string): Promise<number> {
  const child = spawn(program, [...flags, '--regexp', needle.pattern, '.'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  await once(child, 'close')
  return text.split('"type":"match"').length - 1
}

const read: Contender = {
  name: readingFloor,
  otherTask: true,
  prepare() {
    const path = join(treeFromEnvironment(), fileOfTree)
    return Promise.resolve({
      async round(calls) {
        for (let i = 0; i < calls; i++) await readFile(path)
      },
      close() {},
    })
  },
}

export const contenders = [search, read]
