import { kinds } from '../base/json-kind.ts'
import { limits } from '../base/limits.ts'
import { compilePattern } from '../pattern/compile-pattern.ts'
import { PatternError } from '../pattern/parse-pattern.ts'

/** Says what is wrong with a keyword's value, as "it must be …"; undefined when it is well formed. */
type Shape = (value: unknown) => string | undefined

const text = wants('a string', (value) => typeof value === 'string')
const flag = wants('true or false', (value) => typeof value === 'boolean')
const number = wants('a finite number', (value) => Number.isFinite(value))
const amount = wants(
  'a whole number, 0 or more',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
)
const list = wants('an array', Array.isArray)
const nameList = wants(
  'an array of strings',
  (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
)

const shapes: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['type', typeShape],
  ['title', text],
  ['description', text],
  ['format', text],
  ['examples', list],
  ['enum', enumShape],
  ['nullable', flag],
  ['minimum', number],
  ['maximum', number],
  ['exclusiveMinimum', number],
  ['exclusiveMaximum', number],
  ['multipleOf', wants('a number above 0', (value) => Number.isFinite(value) && Number(value) > 0)],
  ['minLength', amount],
  ['maxLength', amount],
  ['pattern', patternShape],
  ['minItems', amount],
  ['maxItems', amount],
  ['uniqueItems', flag],
  ['required', nameList],
  ['minProperties', amount],
  ['maxProperties', amount],
  ['minContains', amount],
  ['maxContains', amount],
  ['x-classification', classificationShape],
])

/** What is wrong with the value of a keyword that holds no schemas; undefined when it is well formed. */
export function inspectShape(keyword: string, value: unknown): string | undefined {
  return shapes.get(keyword)?.(value)
}

/** What is wrong with a pattern; undefined when it can be used. */
export function patternShape(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'It must be a string.'
  try {
    compilePattern(value)
    return undefined
  } catch (error) {
    if (error instanceof PatternError) return `The pattern ${error.message}`
    throw error
  }
}

function wants(what: string, fits: (value: unknown) => boolean): Shape {
  return (value) => (fits(value) ? undefined : `It must be ${what}.`)
}

/** An empty one would look as if the value were protected. */
function classificationShape(value: unknown): string | undefined {
  const labels: unknown[] = Array.isArray(value) ? value : [value]
  const named = labels.length > 0 && labels.every((label) => typeof label === 'string' && label !== '')
  return named ? undefined : 'It must be a non-empty string, or an array of them.'
}

function typeShape(value: unknown): string | undefined {
  const types: unknown[] = Array.isArray(value) ? value : [value]
  const known = types.every((type) => typeof type === 'string' && Object.hasOwn(kinds, type))
  if (known && types.length > 0 && new Set(types).size === types.length) return undefined
  return `It must be one of ${Object.keys(kinds).join(', ')}, or an array of different ones.`
}

function enumShape(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return 'It must be an array with at least one value.'
  if (value.length > limits.enumValues) return `It must have at most ${limits.enumValues} values.`
  return undefined
}
