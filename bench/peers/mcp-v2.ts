import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server'
import type { Contender } from '../harness/contender.ts'
import { nextInput, runTask, taskDescription, taskName } from '../harness/task.ts'
import { taskZod } from '../harness/task-zod.ts'

const calling: Contender = {
  name: 'MCP SDK 2, client to server in memory',
  async prepare() {
    const server = new McpServer({ name: 'orders', version: '1.0.0' })
    server.registerTool(taskName, { description: taskDescription, inputSchema: taskZod }, async (line) => ({
      content: [{ type: 'text', text: JSON.stringify(await runTask(line)) }],
    }))
    const client = new Client({ name: 'bench', version: '1.0.0' })
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    await server.connect(theirs)
    await client.connect(ours)
    return {
      async round(calls) {
        for (let i = 0; i < calls; i++)
          await client.callTool({ name: taskName, arguments: { ...nextInput() } })
      },
      close: () => client.close(),
    }
  },
}

export const contenders = [calling]
