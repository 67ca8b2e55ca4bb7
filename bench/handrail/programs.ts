import type { Contender, Prepared } from '../harness/contender.ts'
import { nextInput, taskName } from '../harness/task.ts'
import { loadHandrail, loadTools, makeDirectory } from './load.ts'
import { makeTaskTool } from './task-tool.ts'

export const direct = 'calls of a session, one after the other'
export const fromProgram = 'calls of a program, one after the other'
export const atOnce = 'calls of a program, 100 at once'
export const empty = 'a program without a call'

/** Calls of one program. */
const batch = 100

async function prepare(kind: string): Promise<Prepared> {
  const { createRuntime, defineTool } = await loadHandrail()
  const { codeModeTools } = await loadTools()
  const { directory, remove } = makeDirectory()
  const runtime = await createRuntime({
    project: directory,
    tools: [makeTaskTool(defineTool), codeModeTools()],
  })
  let programs = 0
  const run = async (session: ReturnType<typeof runtime.session>, code: string): Promise<void> => {
    const result = await session.call('code_mode.run', { code: `${code} // ${programs++}` })
    if (!result.ok) throw new Error(result.error?.message)
  }
  return {
    async round(calls) {
      const session = runtime.session()
      if (kind === empty) for (let i = 0; i < calls; i++) await run(session, 'return 1')
      else if (kind === direct)
        for (let i = 0; i < calls; i++) await session.call(taskName, JSON.stringify(nextInput()))
      else
        for (let i = 0; i < calls; i += batch) {
          const inputs = JSON.stringify(Array.from({ length: Math.min(batch, calls - i) }, nextInput))
          await run(
            session,
            kind === atOnce
              ? `await Promise.all(${inputs}.map((input) => tools.bench__add(input)))`
              : `for (const input of ${inputs}) await tools.bench__add(input)`,
          )
        }
      await session.close()
    },
    async close() {
      await runtime.close()
      remove()
    },
  }
}

export const contenders: readonly Contender[] = [
  { name: direct, batch, prepare: () => prepare(direct) },
  { name: fromProgram, batch, prepare: () => prepare(fromProgram) },
  { name: atOnce, batch, prepare: () => prepare(atOnce) },
  { name: empty, otherTask: true, prepare: () => prepare(empty) },
]
