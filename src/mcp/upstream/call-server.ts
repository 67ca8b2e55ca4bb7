import type { Progress } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../contract/base/json.ts'
import type { CallBinding } from '../../contract/mcp/direct-connection.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { longestMs } from '../../kit/time/longest-ms.ts'
import { adviseOnFault } from './base/advise-on-fault.ts'
import type { ImportedTool } from './base/import-tool.ts'
import type { Questions } from './base/questions.ts'
import { isLost, isUnknownSession, toTaskFailure } from './base/to-call-failure.ts'
import type { UpstreamCall } from './base/upstream.ts'
import type { ManagedConnection } from './connection/create-managed-connection.ts'
import type { Connection } from './connection/open-connection.ts'
import { callOver } from './requests/call-over.ts'
import { readParamHeaders, toParamHeaders } from './requests/param-headers.ts'
import { sendOver } from './requests/send-over.ts'
import { followTask, isTaskOnly } from './tools/follow-task.ts'

/** The connection that a call goes over. */
export interface CallRoute {
  readonly server: UpstreamServer
  readonly managed: ManagedConnection
  readonly questions: Pick<Questions, 'join' | 'leave'>
  /** What goes with the call over a connection of its client's own. */
  readonly binding?: CallBinding | undefined
}

/** Calls a tool of a server. Rejects with a `ToolFailure`, or as its signal says. */
export function callServer(
  { server, managed, questions, binding }: CallRoute,
  { tool, input }: { tool: ImportedTool; input: JsonObject },
  { signal, onProgress, asker, guard }: Omit<UpstreamCall, 'principal' | 'guard'> & { guard: () => void },
): Promise<JsonObject> {
  const params = { name: tool.rawName, arguments: input }
  const options = {
    signal,
    timeout: longestMs,
    allowInputRequired: true,
    onprogress: ({ progress, total, message }: Progress) =>
      onProgress({
        done: progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      }),
  }
  const call = async (connection: Connection) => {
    const { client, era } = connection
    const headers = era === 'modern' ? headersOf(server, tool, input) : undefined
    const asTask = era === 'legacy' && isTaskOnly(tool)
    const answer = await callOver(connection, {
      method: 'tools/call',
      params: asTask ? { ...params, task: {} } : params,
      options: { ...options, ...headers },
      binding,
      server,
      asker,
    })
    if (!asTask) return answer
    // What is thrown here must not make a caller send the call again: the task runs.
    return followTask(client, answer, options).catch((error: unknown) => {
      if (!signal.aborted && (isLost(error) || isUnknownSession(error))) managed.drop(connection)
      throw toTaskFailure(error, { server: server.name, tool: tool.name })
    })
  }
  return sendOver(call, {
    server: server.name,
    managed,
    signal,
    tool: tool.name,
    asking: { asker, questions },
    advise: (lines) => adviseOnFault(lines, server),
    guard,
  })
}

/** Arguments that proxies on the way to a server go by. */
function headersOf({ transport }: UpstreamServer, { fields }: ImportedTool, input: JsonObject) {
  const read = transport.kind === 'http' ? readParamHeaders(fields.inputSchema) : undefined
  if (read === undefined || !('headers' in read) || read.headers.length === 0) return undefined
  return { headers: toParamHeaders(read.headers, input) }
}
