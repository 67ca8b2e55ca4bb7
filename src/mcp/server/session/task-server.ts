import {
  Server,
  type CallToolResult,
  type JSONRPCRequest,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { PlainCalls } from '../calls/plain-calls.ts'

type Handle = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>

/** Results that say that a call became a task, by what stands for them here: the SDK knows tool results only. */
const created = new WeakMap<Result, Result>()

/** A result of `tools/call` which says that the call became a task. The client gets `result` as it is. */
export function asCreatedTask(result: Result): CallToolResult {
  const standIn: CallToolResult = { content: [] }
  created.set(standIn, result)
  return standIn
}

/** Of a context, the check of a result looks at this alone. */
const unasked = { mcpReq: { requestState: () => undefined } } as unknown as ServerContext

/** An SDK server whose `tools/call` may be answered with a task, which is not a tool result and not held to its schema. */
export class TaskServer extends Server {
  /** Takes calls before the SDK reads them. Undefined: it reads all. */
  plainCalls: PlainCalls | undefined

  /** Holds a result to the schema that `tools/call` has in the SDK. Rejects with a protocol error. */
  checkResult(request: JSONRPCRequest, result: Result): Promise<Result> {
    return super._wrapHandler('tools/call', async () => result)(request, unasked)
  }

  protected override _onclose(): void {
    this.plainCalls?.close()
    super._onclose()
  }

  protected override _wrapHandler(method: string, handle: Handle): Handle {
    if (method !== 'tools/call') return super._wrapHandler(method, handle)
    const tasks = new WeakMap<JSONRPCRequest, Result>()
    const checked = super._wrapHandler(method, async (request, context) => {
      const result = await handle(request, context)
      const task = created.get(result)
      if (task !== undefined) tasks.set(request, task)
      return result
    })
    return async (request, context) => {
      const result = await checked(request, context)
      return tasks.get(request) ?? result
    }
  }
}

/** What takes the calls of its client before the SDK reads them. Undefined for a server whose calls the SDK reads. */
export function plainCallsOf(server: Server): PlainCalls | undefined {
  return server instanceof TaskServer ? server.plainCalls : undefined
}
