import { createClientSession, type ServedRuntime } from './client-session.ts'
import { messageText } from './message-text.ts'

/** Makes what all clients ask for first, the list of tools, so that none of them waits for that: with thousands of tools it takes a while. */
export async function prepareList(served: ServedRuntime): Promise<void> {
  const client = createClientSession(served)
  messageText({ result: { tools: client.list(false) } })
  await client.close()
}
