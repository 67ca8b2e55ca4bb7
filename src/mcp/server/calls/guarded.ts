import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

/** What breaks inside is for the log; the client learns that it broke. */
export async function guarded<T>(log: (line: string) => void, handle: () => T | Promise<T>): Promise<T> {
  try {
    return await handle()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    log(`mcp: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      'Handrail failed on this request; its log has the cause.',
    )
  }
}
