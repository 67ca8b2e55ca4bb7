import type { CallError } from '../../../contract/base/errors.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { valueAt } from '../../../kit/json/json-pointer.ts'
import { keyName } from '../../../kit/key-name.ts'
import type { CallScope } from '../../state/scope.ts'
import type { CallKey, Found } from '../../state/call-state.ts'

/** The idempotency key of a call: its own, or the input field that its tool names. An error if the tool wants a key and there is none, takes none, or if the key is malformed. */
export function readKey(
  { call, registered, partOf }: Found,
  input: JsonObject,
  { tenant, session }: CallScope,
): CallKey | CallError | undefined {
  const { name, idempotency, keyFrom = 'call' } = registered.definition
  const { idempotencyKey } = call
  if (idempotencyKey === undefined && (idempotency !== 'keyed' || partOf?.segment !== undefined))
    return undefined
  const given =
    keyFrom === 'call' || idempotencyKey !== undefined ? idempotencyKey : readField(input, keyFrom)
  const error =
    idempotencyKey === undefined
      ? findMissing(name, { given, keyFrom })
      : (findStray(name, { idempotency, keyFrom }) ?? findFlaw(name, idempotencyKey))
  if (error !== undefined) return error
  return { name: keyName(session.principal.actor, String(given), (text) => tenant.store.digest(text)) }
}

function readField(input: JsonObject, pointer: string): string | undefined {
  const value = valueAt(input, pointer)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

function findMissing(
  tool: string,
  { given, keyFrom }: { given: string | undefined; keyFrom: string },
): CallError | undefined {
  if (given !== undefined && given !== '') return undefined
  const advice =
    keyFrom === 'call'
      ? 'give the call a key'
      : `its key is the text or number at "${keyFrom}" of its input, and there is none`
  return callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
    message: `"${tool}" runs once for each idempotency key; ${advice}.`,
  })
}

function findStray(
  tool: string,
  { idempotency, keyFrom }: { idempotency: string; keyFrom: string },
): CallError | undefined {
  if (idempotency !== 'none' && keyFrom === 'call') return undefined
  const why =
    idempotency === 'none'
      ? `"${tool}" takes no idempotency key: each of its calls runs. Call it without a key, or have its definition say "idempotency": "optional"`
      : `"${tool}" takes its idempotency key from its input, at "${keyFrom}". Call it without a key`
  return callError('IDEMPOTENCY.CONFLICT', 'key_not_supported', {
    message: `${why}. Nothing was done.`,
  })
}

const maxCharacters = 256

function findFlaw(tool: string, key: unknown): CallError | undefined {
  const fits = typeof key === 'string' && key.trim() !== '' && key.length <= maxCharacters
  if (fits && !isCounter(key)) return undefined
  const what = fits
    ? `The idempotency key of this call looks like a counter, which starts anew with each conversation: the next one would get the result of this call`
    : `An idempotency key is a text of 1 to ${maxCharacters} characters`
  return callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
    message: `${what}. Give "${tool}" a key that names what is done, such as "refund-order-17", or a UUID. Nothing was done.`,
  })
}

/** A small number, alone or behind words that providers put before the numbers of their calls. */
const counter =
  /^(?:(?:chatcmpl|tooluse|toolu|tool|functions?|func|calls?|request|req|message|msg|step|turn|index|idx|item|fc|id|nr|no)[\s._:#-]*)*\d{1,8}(?:[\s._:#-]+\d{1,8})*$/i
/** As some models number the calls of each answer: `functions.get_weather:0`. */
const numberedFunction = /^functions\.[^:]{1,128}:\d{1,8}$/

function isCounter(key: string): boolean {
  return counter.test(key) || numberedFunction.test(key)
}
