import { ToolFailure } from '../../contract/base/errors.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { CallBinding } from '../../contract/mcp/direct-connection.ts'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'

/** Takes the secrets that a server has from here out of what it says past its calls, as is done to the result of a call. */
export interface SecretHiding {
  said(words: JsonObject): JsonObject
  /** An answer, or the failure that comes in its place. */
  answered(answer: Promise<JsonObject>): Promise<JsonObject>
  /** The same binding; its client is asked without them. */
  bound(binding: CallBinding): CallBinding
}

/** By what this host knows to be secret. */
export function createSecretHiding(host: Pick<FeedHost, 'redact' | 'redactJson'>): SecretHiding {
  const said = (words: JsonObject): JsonObject => host.redactJson(words)
  const failed = ({ code, reason, message, issues, data }: ToolFailure): ToolFailure =>
    new ToolFailure({
      code,
      reason,
      message: host.redact(message),
      ...(issues !== undefined && { issues }),
      ...(data !== undefined && { data: said(data) }),
    })
  return {
    said,
    async answered(answer) {
      try {
        return said(await answer)
      } catch (error) {
        throw error instanceof ToolFailure ? failed(error) : error
      }
    },
    bound: (binding) => ({
      ...binding,
      sendRequests: (requests, signal) => binding.sendRequests(said(requests), signal),
    }),
  }
}
