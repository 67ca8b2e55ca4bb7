import type { Contender, Prepared } from '../harness/contender.ts'
import { fileOfTree, needle, treeFromEnvironment } from '../harness/tree.ts'
import { loadHandrail } from './load.ts'

export const searchName = 'Handrail, code.search'
export const readName = 'Handrail, files.read in a tool'

/** One search by a session. */
export const search: Contender = {
  name: searchName,
  otherTask: true,
  async prepare(): Promise<Prepared> {
    const { codeTools, createRuntime } = await loadHandrail()
    const runtime = await createRuntime({
      project: treeFromEnvironment(),
      tools: [codeTools()],
      store: 'memory',
    })
    return {
      async round(calls) {
        const session = runtime.session()
        for (let i = 0; i < calls; i++) {
          const result = await session.call('code.search', { query: needle.pattern, limit: 1000 })
          if (!result.ok) throw new Error(`code.search failed: ${result.error?.message}`)
        }
        await session.close()
      },
      close: () => runtime.close(),
    }
  },
}

/** One call that reads `times` times, so that a read is counted and not the call around it. */
const read: Contender = {
  name: readName,
  otherTask: true,
  async prepare(): Promise<Prepared> {
    const { createRuntime, defineTool } = await loadHandrail()
    const tool = defineTool({
      name: 'bench.read',
      description: 'Reads a file again and again.',
      permission: 'readonly',
      sideEffect: 'read',
      input: {
        type: 'object',
        properties: { times: { type: 'integer' } },
        required: ['times'],
        additionalProperties: false,
      },
      capabilities: { fs: { read: ['project'], write: [] } },
      needs: ['files'],
      async run({ times }, { files }) {
        for (let i = 0; i < times; i++) await files.read(fileOfTree)
        return { times }
      },
    })
    const runtime = await createRuntime({ project: treeFromEnvironment(), tools: [tool], store: 'memory' })
    return {
      async round(calls) {
        const session = runtime.session()
        const result = await session.call('bench.read', { times: calls })
        if (!result.ok) throw new Error(`bench.read failed: ${result.error?.message}`)
        await session.close()
      },
      close: () => runtime.close(),
    }
  },
}

export const contenders = [search, read]
