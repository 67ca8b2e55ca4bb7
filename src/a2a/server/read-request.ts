import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { inputDigest, type Claim } from '../base/protocol.ts'

/** A call as it stands in a message. */
export interface AskedCall {
  readonly tool: string
  readonly input: unknown
}

/** A request of a peer: what a token has to let it do, and the call in it if it is one. */
export interface AskedRequest {
  readonly body: Record<string, unknown>
  readonly claim: Claim
  readonly call: AskedCall | undefined
}

/** What a JSON-RPC request asks for, or why it cannot be known. Nothing of it is trusted yet. */
export function readRequest(text: string): AskedRequest | string {
  const body = parse(text)
  if (!isPlainObject(body)) return 'The body is not a JSON-RPC request.'
  const params = isPlainObject(body['params']) ? body['params'] : {}
  switch (body['method']) {
    case 'SendMessage':
      return readCall(body, params['message'])
    case 'GetTask':
      return { body, claim: { does: 'get', task: String(params['id']) }, call: undefined }
    case 'CancelTask':
      return { body, claim: { does: 'cancel', task: String(params['id']) }, call: undefined }
    case 'GetExtendedAgentCard':
      return { body, claim: { does: 'card' }, call: undefined }
    default:
      return 'Only SendMessage, GetTask, CancelTask and GetExtendedAgentCard of A2A 1.0 are served here.'
  }
}

const oneCall =
  'A message has one part, of data: {"tool": "…", "input": {…}}. It begins a task, and belongs to none before.'

function readCall(body: Record<string, unknown>, message: unknown): AskedRequest | string {
  if (!isPlainObject(message) || !Array.isArray(message['parts'])) return oneCall
  const [part, ...others]: readonly unknown[] = message['parts']
  const isNew = [message['taskId'], message['contextId']].every((id) => id === undefined || id === '')
  if (others.length > 0 || !isPlainObject(part) || !isNew) return oneCall
  const { data } = part
  if (!isPlainObject(data) || typeof data['tool'] !== 'string') return oneCall
  const { tool, input = {} } = data
  return { body, claim: { does: 'call', tool, input: inputDigest(input) }, call: { tool, input } }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
