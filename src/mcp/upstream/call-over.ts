import type { Client, RequestOptions } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../contract/json.ts'
import type { LineLoad } from '../../contract/server-line.ts'
import { isPlainObject } from '../../kit/is-plain-object.ts'
import { asIs } from './as-is.ts'

/** A server that asks more often for one call does not come to an end. */
const maxRounds = 16

/** A `tools/call`. What the server needs before it goes on, the client of the call provides, where it has one. */
export async function callOver(
  client: Client,
  { params, options, load }: { params: JsonObject; options: RequestOptions; load: LineLoad | undefined },
): Promise<Record<string, unknown>> {
  const method = 'tools/call'
  if (load === undefined) return client.request({ method, params }, asIs, options)
  const { inputResponses: first, ...more } = load.params
  let extra: JsonObject = first === undefined ? {} : { inputResponses: first }
  for (let round = 0; round < maxRounds; round++) {
    const request = { method, params: { ...params, ...more, ...extra } }
    const result = await client.request(request, asIs, { ...options, allowInputRequired: true })
    if (result['resultType'] !== 'input_required') return result
    const { inputRequests, requestState } = result
    // Whoever reads messages reads JSON.
    const requests = isPlainObject(inputRequests) ? (inputRequests as JsonObject) : {}
    const given = await load.provide(requests, options.signal ?? new AbortController().signal)
    extra = { inputResponses: given, ...(typeof requestState === 'string' && { requestState }) }
  }
  throw new Error(`It asked ${maxRounds} times for something more and did not come to an end.`)
}
