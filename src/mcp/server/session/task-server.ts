import {
  Server,
  type CallToolResult,
  type JSONRPCRequest,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server'

type Take = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>

/** On what stands for a task; it does not go over the wire. */
const mark = Symbol('stands for a task')

/** Marks a result of `tools/call` that says that the call became a task. The client gets it as it is. */
export function asCreatedTask(result: Result): CallToolResult {
  // The SDK knows no other result of `tools/call`.
  return { ...result, [mark]: true } as unknown as CallToolResult
}

/** An SDK server whose `tools/call` may be answered with a task, which is not a tool result and not held to its schema. */
export class TaskServer extends Server {
  protected override _wrapHandler(method: string, take: Take): Take {
    if (method !== 'tools/call') return super._wrapHandler(method, take)
    const tasks = new WeakMap<JSONRPCRequest, Result>()
    const checked = super._wrapHandler(method, async (request, context) => {
      const result = await take(request, context)
      if (!(mark in result)) return result
      tasks.set(request, result)
      return { content: [] }
    })
    return async (request, context) => {
      const result = await checked(request, context)
      return tasks.get(request) ?? result
    }
  }
}
