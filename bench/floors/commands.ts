import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Contender } from '../harness/contender.ts'
import { commandToRun, treeFromEnvironment } from '../harness/tree.ts'

export const spawnFloor = 'child_process.spawn, output read'

/** The same program without anything around it. */
const plain: Contender = {
  name: spawnFloor,
  otherTask: true,
  prepare() {
    const cwd = treeFromEnvironment()
    return Promise.resolve({
      async round(calls) {
        for (let i = 0; i < calls; i++) {
          const child = spawn(commandToRun, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
          child.stdout.resume()
          child.stderr.resume()
          await once(child, 'close')
        }
      },
      close() {},
    })
  },
}

export const contenders = [plain]
