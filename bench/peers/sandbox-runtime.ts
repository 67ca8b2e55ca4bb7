import { SandboxManager } from '@anthropic-ai/sandbox-runtime'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Contender } from '../harness/contender.ts'
import { commandToRun } from '../harness/tree.ts'

export const sandboxRuntimeName = 'sandbox-runtime, as its manual says'

/** The same program, able to write in its folder and without network; it can read everything, which costs the peer less. */
const wrapped: Contender = {
  name: sandboxRuntimeName,
  otherTask: true,
  async prepare() {
    // The folder of the others may belong to another user, and this peer lays files into its own.
    const cwd = mkdtempSync(join(tmpdir(), 'handrail-bench-'))
    // What it protects unasked it looks for below the working directory.
    process.chdir(cwd)
    await SandboxManager.initialize({
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: { denyRead: [], allowWrite: ['.'], denyWrite: [] },
    })
    return {
      async round(calls) {
        for (let i = 0; i < calls; i++) {
          const command = await SandboxManager.wrapWithSandbox(commandToRun)
          const child = spawn(command, { cwd, shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
          child.stdout.resume()
          let said = ''
          child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
          const [code] = await once(child, 'close')
          SandboxManager.cleanupAfterCommand()
          if (code !== 0) throw new Error(`the program ended with ${String(code)}: ${said}`)
        }
      },
      async close() {
        await SandboxManager.reset()
        rmSync(cwd, { recursive: true })
      },
    }
  },
}

export const contenders = [wrapped]
