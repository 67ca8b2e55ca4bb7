import type { JsonObject } from '../../../contract/base/json.ts'
import type { Client, RequestOptions } from '@modelcontextprotocol/client'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { asIs } from '../base/as-is.ts'
import { factsKey, type ImportedTool } from '../base/import-tool.ts'

/** Whether its server takes calls of it only as tasks, which are asked about until they end (2025-11-25). */
export function isTaskOnly({ fields }: ImportedTool): boolean {
  const facts = fields.metadata[factsKey]
  const execution = isPlainObject(facts) ? facts['execution'] : undefined
  return isPlainObject(execution) && execution['taskSupport'] === 'required'
}

/** How long a server may take to hear that a task is not wanted any more. */
const cancelMs = 5_000

/** The result of a call whose server answered with a task. With its signal the task is cancelled at the server. */
export async function followTask(
  client: Client,
  answer: JsonObject,
  options: RequestOptions,
): Promise<JsonObject> {
  const { task } = answer
  const taskId = isPlainObject(task) ? task['taskId'] : undefined
  if (typeof taskId !== 'string') return answer
  const { signal } = options
  // The caller that waited is gone, so that none is left to be told how the server takes it.
  const cancel = (): void =>
    void client
      .request({ method: 'tasks/cancel', params: { taskId } }, asIs, { timeout: cancelMs })
      .catch(() => {})
  if (signal?.aborted === true) cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    return await client.request({ method: 'tasks/result', params: { taskId } }, asIs, options)
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}
