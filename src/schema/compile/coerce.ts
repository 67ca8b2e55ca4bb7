import { kinds } from '../base/json-kind.ts'

/** A value in another type that means the same, and the two types. */
export interface Coerced {
  value: unknown
  from: string
  to: string
}

/** Text that is a plain decimal number: no exponent, no sign but minus, no leading zeros. */
const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
/** Numbers have far fewer digits; longer text is not one that comes back the same. */
const maxNumberText = 32

/**
 * The value in one of the wanted types (bits), where that loses nothing: text of a number that prints the same again,
 * `"true"` and `"false"`, JSON text of an object or array, and a safe integer as text. Undefined otherwise.
 */
export function coerce(value: unknown, wanted: number): Coerced | undefined {
  if (typeof value === 'string') return fromText(value, wanted)
  if ((wanted & kinds.string) !== 0 && Number.isSafeInteger(value) && !Object.is(value, -0))
    return { value: String(value), from: 'integer', to: 'string' }
  return undefined
}

function fromText(text: string, wanted: number): Coerced | undefined {
  if ((wanted & kinds.boolean) !== 0 && (text === 'true' || text === 'false'))
    return { value: text === 'true', from: 'string', to: 'boolean' }
  if ((wanted & (kinds.integer | kinds.number)) !== 0) {
    const number = toNumber(text)
    if (number !== undefined && Number.isInteger(number))
      return { value: number, from: 'string', to: (wanted & kinds.integer) !== 0 ? 'integer' : 'number' }
    if (number !== undefined && (wanted & kinds.number) !== 0)
      return { value: number, from: 'string', to: 'number' }
  }
  if ((wanted & kinds.object) !== 0 && /^\s*\{/.test(text)) return parsed(text, 'object')
  if ((wanted & kinds.array) !== 0 && /^\s*\[/.test(text)) return parsed(text, 'array')
  return undefined
}

function toNumber(text: string): number | undefined {
  if (text.length > maxNumberText || !plainNumber.test(text)) return undefined
  const number = Number(text)
  if (String(number) !== text) return undefined
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number
}

function parsed(text: string, to: 'object' | 'array'): Coerced | undefined {
  try {
    return { value: JSON.parse(text, refuseLostDigits), from: 'string', to }
  } catch {
    // Not JSON, or a number in it would change: then the text stays text, and the type issue names it.
    return undefined
  }
}

function refuseLostDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number') return value
  const exact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)
  if (!exact) throw new RangeError(`The number ${context?.source ?? value} would lose digits.`)
  return value
}
