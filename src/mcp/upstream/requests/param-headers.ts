import type { JsonObject } from '../../../contract/base/json.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** An argument that a server wants to see in a header too, so that proxies can route by it. */
export interface ParamHeader {
  /** Without the prefix. */
  readonly header: string
  /** Where it stands in the input. */
  readonly path: readonly string[]
}

/** What a schema says of headers, or what is wrong with that. */
export type ParamHeaders = { readonly headers: readonly ParamHeader[] } | { readonly message: string }

const keyword = 'x-mcp-header'
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const types: readonly unknown[] = ['string', 'integer', 'boolean']
/** What stands under these are values, not schemas. */
const values: readonly string[] = ['enum', 'const', 'default', 'examples', keyword]
/** What stands under these are schemas by name. */
const maps: readonly string[] = [
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
]

/** Reads the headers of an input schema. Only what every input has in one place can have one. */
export function readParamHeaders(schema: unknown): ParamHeaders {
  const headers: ParamHeader[] = []
  let fault: string | undefined
  const add = (found: Record<string, unknown>, path: readonly string[] | undefined): void => {
    const header = found[keyword]
    const taken = (name: string): boolean =>
      headers.some((each) => each.header.toLowerCase() === name.toLowerCase())
    if (path === undefined || path.length === 0) fault ??= 'one that is not a plain property has a header'
    else if (typeof header !== 'string' || !token.test(header))
      fault ??= `"${path.join('.')}" has a header whose name is none`
    else if (!types.includes(found['type']))
      fault ??= `"${path.join('.')}" has a header and is not a string, integer or boolean`
    else if (taken(header)) fault ??= `two have the header "${header}"`
    else headers.push({ header, path })
  }
  const visit = (node: unknown, path: readonly string[] | undefined): void => {
    if (Array.isArray(node)) for (const each of node) visit(each, undefined)
    if (!isPlainObject(node)) return
    if (node[keyword] !== undefined) add(node, path)
    for (const [name, below] of Object.entries(node)) {
      if (values.includes(name)) continue
      if (!maps.includes(name) || !isPlainObject(below)) visit(below, undefined)
      else
        for (const [key, each] of Object.entries(below))
          visit(each, name === 'properties' && path !== undefined ? [...path, key] : undefined)
    }
  }
  visit(schema, [])
  return fault === undefined
    ? { headers }
    : { message: `Its input schema says of headers what it must not: ${fault}.` }
}

/** The headers of a call. What is not there has none. */
export function toParamHeaders(
  headers: readonly ParamHeader[],
  input: JsonObject,
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { header, path } of headers) {
    let value: unknown = input
    for (const name of path)
      value = isPlainObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
    if (typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value))
      found[`Mcp-Param-${header}`] = toHeaderValue(String(value))
  }
  return found
}

/** A value that a header cannot carry as it is, or that would be read as something else, in base64. */
function toHeaderValue(value: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(value) && value.trim() === value && !/^=\?base64\?.*\?=$/i.test(value)
  return isPlain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}
