import type { Json } from '../../contract/base/json.ts'
import { dropInvisible } from '../text/drop-invisible.ts'
import { isPlainObject } from './is-plain-object.ts'

/** What these hold is data of the tool, which stays as it is. */
const data: readonly string[] = ['default', 'enum', 'const', 'examples', '_meta']
/** What these hold has names of the tool's own, which mean nothing here. */
const named: readonly string[] = [
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]

/**
 * The same definition or schema, without characters in its titles and descriptions, at any depth, that a model reads and no person sees.
 * Throws a RangeError for one that is nested too deeply.
 */
export function withoutInvisible<T extends Json | undefined>(value: T): T
export function withoutInvisible(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((each: Json) => withoutInvisible(each))
  return mapValues(value, (key, each) => {
    if (data.includes(key)) return each
    if (named.includes(key)) return mapValues(each, (_, schema) => withoutInvisible(schema))
    const isWords = typeof each === 'string' && (key === 'title' || key === 'description')
    return isWords ? dropInvisible(each) : withoutInvisible(each)
  })
}

function mapValues<T extends Json | undefined>(value: T, map: (key: string, each: Json) => Json): T
function mapValues(value: Json | undefined, map: (key: string, each: Json) => Json): Json | undefined {
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, map(key, each)]))
}
