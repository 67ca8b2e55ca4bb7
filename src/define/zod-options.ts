import { isObject } from '../kit/json/is-object.ts'
import { changesMeaning } from './changes-meaning.ts'

/** What zod shows of each of its schemas before it goes into the whole. */
interface ZodPart {
  readonly zodSchema: { readonly _zod: { readonly def: ZodDefinition } }
  readonly jsonSchema: Record<string, unknown>
}

interface ZodDefinition {
  readonly type?: string
  readonly coerce?: boolean
  readonly pattern?: unknown
  readonly values?: readonly unknown[]
  readonly checks?: readonly { readonly _zod?: { readonly def?: { readonly pattern?: unknown } } }[]
}

/**
 * Options of zod's converter. A pattern that means something else without its flags is left to zod, which checks every value too.
 * `z.undefined()` is what JSON leaves out, and a coerced date or bigint is the text that it is made of. Throws for everything else that
 * JSON does not have: some releases of zod would let any value through.
 */
export const zodOptions = {
  unrepresentable: 'any',
  override({ zodSchema, jsonSchema }: ZodPart): void {
    const { def } = zodSchema._zod
    leavePatterns(def, jsonSchema)
    if (def.type === 'undefined' || def.type === 'void') Object.assign(jsonSchema, { not: {} })
    else if (def.type === 'literal') takeValues(def.values ?? [], jsonSchema)
    else if (def.coerce === true && coercible.has(def.type ?? ''))
      Object.assign(jsonSchema, { type: 'string' })
    else if (def.type === 'object') refuseImpossible(jsonSchema)
    else refuse(def.type ?? '')
  },
}

const coercible: ReadonlySet<string> = new Set(['date', 'bigint'])

const words: ReadonlyMap<string, string> = new Map([
  ['date', 'Date; z.coerce.date() takes the text of one'],
  ['bigint', 'BigInt; z.coerce.bigint() takes the text of one'],
  ['map', 'Map'],
  ['set', 'Set'],
  ['file', 'File'],
  ['symbol', 'a symbol'],
  ['nan', 'NaN'],
  ['function', 'a function'],
  ['promise', 'a promise'],
])

function refuse(type: string): void {
  const what = words.get(type)
  if (what !== undefined) throw new Error(`JSON has no place for ${what}`)
  if (type === 'custom' || type === 'transform')
    throw new Error(
      `${type === 'custom' ? 'z.custom() and z.instanceof()' : 'z.transform()'} cannot say what they take; write z.unknown().refine(…), or the type that it is, and .transform(…) behind`,
    )
}

/** zod wants the key of a required field to be there, and JSON has no value that means undefined. */
function refuseImpossible({ properties, required }: Record<string, unknown>): void {
  if (!isObject(properties) || !Array.isArray(required)) return
  const name = required.map(String).find((each) => isNothing(properties[each]))
  if (name !== undefined)
    throw new Error(
      `no input has the required field "${name}", which JSON has no value for; make it .optional()`,
    )
}

function isNothing(schema: unknown): boolean {
  return isObject(schema) && isObject(schema['not']) && Object.keys(schema['not']).length === 0
}

function leavePatterns({ pattern, checks = [] }: ZodDefinition, jsonSchema: Record<string, unknown>): void {
  const patterns = [pattern, ...checks.map((check) => check._zod?.def?.pattern)]
  if (!patterns.some((each) => each instanceof RegExp && changesMeaning(each))) return
  delete jsonSchema['pattern']
  // Several stand in here.
  delete jsonSchema['allOf']
}

/** Values that JSON has none of are left out; BigInts would be taken for numbers. */
function takeValues(values: readonly unknown[], jsonSchema: Record<string, unknown>): void {
  if (values.some((value) => typeof value === 'bigint')) throw new Error('JSON has no place for BigInt')
  if (values.every((value) => value === undefined)) Object.assign(jsonSchema, { not: {} })
}
