import { Server, type CallToolResult, type Tool, type Transport } from '@modelcontextprotocol/server'
import { guarded } from '../calls/guarded.ts'
import { createProgress, type Reported } from '../calls/create-progress.ts'
import { toAttachment } from '../calls/to-attachment.ts'
import { packageVersion } from '../session/package-version.ts'

/** A call as a client makes it. */
export interface ServedCall {
  readonly name: string
  readonly input: unknown
  readonly meta: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** Tells the client how far it is, if that wants to know. */
  onProgress(reported: Reported): void
}

/** What a server for a program's own connections shows and does. */
export interface ServedTools {
  readonly list: () => Tool[]
  readonly call: (called: ServedCall) => Promise<CallToolResult>
  /** Takes what failed and could not be told. */
  readonly log: (line: string) => void
}

/** Connects clients in the same process to tools; each connection is one of its own. */
export interface ToolServer {
  connect(transport: Transport): Promise<void>
}

/** A server for clients in the same process. What its tools are, and do, is for its maker to say. */
export function createToolServer({ list, call, log }: ServedTools): ToolServer {
  return {
    async connect(transport) {
      const info = { name: 'handrail', title: 'Handrail', version: packageVersion() }
      const server = new Server(info, { capabilities: { tools: {} } })
      server.onerror = (error) => log(`mcp: ${error.message}`)
      server.setRequestHandler('tools/list', () => guarded(log, () => ({ tools: list() })))
      server.setRequestHandler('tools/call', ({ params }, context) =>
        guarded(log, () => {
          const { name, arguments: input = {}, _meta: meta = {} } = params
          const { signal, onProgress } = toAttachment(context, log)
          const toProgress = createProgress()
          const report = (reported: Reported): void => {
            const update = onProgress && toProgress(reported)
            if (update !== undefined) onProgress?.(update)
          }
          return call({ name, input, meta, signal, onProgress: report })
        }),
      )
      await server.connect(transport)
    },
  }
}
