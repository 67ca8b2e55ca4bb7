import { createClientSession, type ServedRuntime } from '../session/client-session.ts'

/** Makes what clients ask for first, the list of tools as most of them get it, so that none of them waits for that: with thousands of tools it takes a while. */
export async function prepareList(served: ServedRuntime): Promise<void> {
  const client = createClientSession(served)
  client.list('as_tasks')
  await client.close()
}
