import {
  Server,
  type CallToolResult,
  type JSONRPCRequest,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server'

type Take = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>

/** A result of `tools/call` that says that the call became a task. */
const created = new WeakSet<Result>()

/** Marks what stands for a task, which a client is to get as it is. */
export function asCreatedTask(result: Result): CallToolResult {
  created.add(result)
  // The SDK knows no other result of `tools/call`.
  return result as CallToolResult
}

/** An SDK server whose `tools/call` may be answered with a task, which is no tool result and not held to its schema. */
export class TaskServer extends Server {
  protected override _wrapHandler(method: string, take: Take): Take {
    if (method !== 'tools/call') return super._wrapHandler(method, take)
    const tasks = new WeakMap<JSONRPCRequest, Result>()
    const checked = super._wrapHandler(method, async (request, context) => {
      const result = await take(request, context)
      if (!created.has(result)) return result
      tasks.set(request, result)
      return { content: [] }
    })
    return async (request, context) => {
      const result = await checked(request, context)
      return tasks.get(request) ?? result
    }
  }
}
