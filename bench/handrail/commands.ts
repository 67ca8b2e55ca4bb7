import { chownSync } from 'node:fs'
import type { Contender } from '../harness/contender.ts'
import { commandToRun, treeFromEnvironment } from '../harness/tree.ts'
import { loadHandrail } from './load.ts'

export const hostName = 'Handrail, code.run_command on the host'
export const isolatedName = 'Handrail, code.run_command in bubblewrap'

function running(name: string, sandbox: 'host' | 'bubblewrap'): Contender {
  return {
    name,
    otherTask: true,
    async prepare() {
      const { codeTools, createRuntime } = await loadHandrail()
      const project = treeFromEnvironment()
      // As whom commands of root run, unless the project has another owner.
      if (process.getuid?.() === 0) chownSync(project, 65_534, 65_534)
      const runtime = await createRuntime({
        project,
        tools: [codeTools()],
        store: 'memory',
        sandbox,
        approve: async () => ({ decision: 'allow_for_session' }),
        limits: { repeatsPerSession: 1_000_000 },
      })
      return {
        async round(calls) {
          const session = runtime.session()
          for (let i = 0; i < calls; i++) {
            const result = await session.call('code.run_command', { argv: [commandToRun] })
            if (!result.ok) throw new Error(`code.run_command failed: ${result.error?.message}`)
          }
          await session.close()
        },
        close: () => runtime.close(),
      }
    },
  }
}

export const contenders = [running(hostName, 'host'), running(isolatedName, 'bubblewrap')]
