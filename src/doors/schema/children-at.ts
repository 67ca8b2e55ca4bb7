import { pointerTo } from '../../kit/json/json-pointer.ts'
import { isKeywords, type Keywords } from './lowering.ts'

/** Keywords with one schema below. */
export const singleKeywords: readonly string[] = [
  'additionalProperties',
  'additionalItems',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]
/** Keywords with a list of schemas below. */
export const listKeywords: readonly string[] = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']
/** Keywords with schemas by name below. */
export const mapKeywords: readonly string[] = [
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]

/** The schemas directly below one, each with its pointer. */
export function childrenAt(schema: Keywords, at: string): [child: Keywords, at: string][] {
  return Object.entries(schema).flatMap(([keyword, value]): [Keywords, string][] => {
    const below = pointerTo(at, keyword)
    if (listKeywords.includes(keyword) && Array.isArray(value))
      return value.flatMap((each, index): [Keywords, string][] =>
        isKeywords(each) ? [[each, pointerTo(below, index)]] : [],
      )
    if (singleKeywords.includes(keyword)) return isKeywords(value) ? [[value, below]] : []
    if (!mapKeywords.includes(keyword) || !isKeywords(value)) return []
    return Object.entries(value).flatMap(([name, each]): [Keywords, string][] =>
      isKeywords(each) ? [[each, pointerTo(below, name)]] : [],
    )
  })
}
