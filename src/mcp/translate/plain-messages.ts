import type { JSONRPCRequest, JSONRPCResultResponse, Result } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** A `tools/call` of a revision to 2025-11-25, as nearly all are. */
export interface PlainCall extends JSONRPCRequest {
  readonly method: 'tools/call'
  readonly params: {
    name: string
    arguments?: Record<string, unknown>
    _meta?: { [key: string]: unknown; progressToken?: string | number }
  }
}

const messageFields: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params'])
const paramsFields: ReadonlySet<string> = new Set(['name', 'arguments', '_meta'])

/**
 * Whether a message that was parsed as JSON is a `tools/call` that needs no other look: the SDK would take it, and as it stands. Everything
 * else is for the SDK to read, right or wrong: this takes less than the SDK, and never anything more.
 */
export function isPlainCall(message: unknown): message is PlainCall {
  if (!isPlainObject(message) || message['method'] !== 'tools/call') return false
  const { jsonrpc, id, params } = message
  if (jsonrpc !== '2.0' || !isId(id) || !isPlainObject(params)) return false
  const { name, arguments: input, _meta: meta } = params
  return (
    typeof name === 'string' &&
    (input === undefined || isOwnObject(input)) &&
    (meta === undefined || isPlainMeta(meta)) &&
    hasOnly(message, messageFields) &&
    hasOnly(params, paramsFields)
  )
}

/** Nothing that the protocol itself keeps there, but for the token of progress. */
function isPlainMeta(meta: unknown): boolean {
  if (!isOwnObject(meta)) return false
  const { progressToken } = meta
  if (progressToken !== undefined && !isId(progressToken)) return false
  return !Object.keys(meta).some((key) => key.startsWith('io.modelcontextprotocol/'))
}

const resultFields: ReadonlySet<string> = new Set(['content', 'structuredContent', 'isError', '_meta'])
const textFields: ReadonlySet<string> = new Set(['type', 'text'])

function isPlainText(block: unknown): boolean {
  return (
    isPlainObject(block) &&
    block['type'] === 'text' &&
    typeof block['text'] === 'string' &&
    hasOnly(block, textFields)
  )
}

/** Whether a result of a call has nothing but texts and data, so that the SDK would send it as it stands. */
export function isPlainResult(result: Result): boolean {
  const { content, structuredContent, isError, _meta } = result
  return (
    Array.isArray(content) &&
    content.every(isPlainText) &&
    (structuredContent === undefined || isOwnObject(structuredContent)) &&
    (_meta === undefined || isPlainMeta(_meta)) &&
    (isError === undefined || typeof isError === 'boolean') &&
    hasOnly(result, resultFields)
  )
}

const answerFields: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result'])

/** An answer to a request of ours: its result as it came. */
export interface PlainAnswer extends JSONRPCResultResponse {
  readonly id: number
  readonly result: JsonObject
}

/** Whether a message that was parsed as JSON answers a request with a result, which the SDK would hand on as it stands. */
export function isPlainAnswer(message: unknown): message is PlainAnswer {
  if (!isPlainObject(message) || message['jsonrpc'] !== '2.0') return false
  const { id, result } = message
  if (!isWhole(id) || !isOwnObject(result)) return false
  const { _meta: meta } = result
  if (Object.hasOwn(result, 'resultType')) return false
  return (meta === undefined || isPlainMeta(meta)) && hasOnly(message, answerFields)
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)

const isId = (value: unknown): value is string | number => typeof value === 'string' || isWhole(value)

/** The SDK leaves out a field of this name. */
const isOwnObject = (value: unknown): value is Record<string, unknown> =>
  isPlainObject(value) && !Object.hasOwn(value, '__proto__')

function hasOnly(object: object, fields: ReadonlySet<string>): boolean {
  for (const key in object) if (!fields.has(key)) return false
  return true
}
