import type { CallContext } from './call-context.ts'
import type { Attachment } from './open-call.ts'

/** What a request does to its call: ends it, and takes its progress if its client asked for that. */
export function toAttachment({ mcpReq }: CallContext, log: (line: string) => void): Attachment {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return { signal: mcpReq.signal, onProgress: undefined }
  return {
    signal: mcpReq.signal,
    onProgress: (update) => {
      mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken, ...update } })
        .catch((error: unknown) => log(`mcp: progress could not be sent: ${String(error)}`))
    },
  }
}
