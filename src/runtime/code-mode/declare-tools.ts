import type { JsonSchema, Subschema } from '../../contract/base/schema.ts'
import type { PresentedTool } from '../../contract/registry.ts'
import { createProgramNames } from './program-names.ts'

/**
 * TypeScript declarations of tools, as programs call them, in order of their names. The same tools give the same text. A tool that runs programs is
 * left out.
 */
export function declareTools(
  tools: readonly Pick<PresentedTool, 'tool' | 'description' | 'inputSchema' | 'outputSchema'>[],
): string {
  const callable = tools
    .filter(({ tool }) => !ownTools.includes(tool))
    .toSorted((one, other) => (one.tool < other.tool ? -1 : 1))
  const names = createProgramNames(callable.map(({ tool }) => tool))
  const members = callable.map(({ tool, description, inputSchema, outputSchema }) => {
    const input = typeOf(inputSchema, { root: inputSchema, indent: '  ', depth: 0 })
    const optional = (inputSchema.required ?? []).length === 0 ? '?' : ''
    const output =
      outputSchema === undefined
        ? 'any'
        : typeOf(outputSchema, { root: outputSchema, indent: '  ', depth: 0 })
    return `${comment(`${tool}: ${description}`, '  ')}  ${names.encode(tool)}(input${optional}: ${input}): Promise<${output}>\n`
  })
  return `declare const tools: {\n${members.join('')}}\n${toolError}`
}

/** Programs cannot start programs. */
const ownTools: readonly string[] = ['code_mode.run', 'code_mode.declarations']

const toolError = `/** What a call that did not succeed throws. */
declare class ToolError extends Error {
  code: string
  reason: string
  tool: string
  issues?: { pointer: string; message: string }[]
  data?: { [fact: string]: any }
}
`

interface Place {
  readonly root: JsonSchema
  readonly indent: string
  readonly depth: number
}

/** Deeper types are not spelt out. */
const mostDepth = 8

/** The type of the values that a schema describes; `any` if TypeScript cannot say it. */
function typeOf(schema: Subschema, place: Place): string {
  if (typeof schema === 'boolean') return schema ? 'any' : 'never'
  const { root, depth } = place
  if (depth > mostDepth) return 'any'
  const deeper = { ...place, depth: depth + 1 }
  if (schema.$ref !== undefined) {
    const target = resolveReference(schema.$ref, root)
    return target === undefined ? 'any' : typeOf(target, deeper)
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map((each) => JSON.stringify(each)))
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return union(choices.map((each) => typeOf(each, deeper)))
  if (schema.allOf !== undefined && schema.properties === undefined)
    return schema.allOf.map((each) => `(${typeOf(each, deeper)})`).join(' & ') || 'any'
  const types = schema.type === undefined ? [] : [schema.type].flat()
  const named = types.length > 0 ? types : schema.properties === undefined ? [] : ['object' as const]
  if (named.length === 0) return 'any'
  const all = named.map((type) => typeOfKind(type, schema, deeper))
  return union(schema.nullable === true ? [...all, 'null'] : all)
}

function typeOfKind(type: string, schema: JsonSchema, place: Place): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `Array<${typeOf(schema.items ?? true, place)}>`
    case 'object':
      return objectType(schema, place)
    default:
      return 'any'
  }
}

function objectType(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  place: Place,
): string {
  const indent = `${place.indent}  `
  const members = Object.keys(properties)
    .toSorted()
    .map((name) => {
      const property = properties[name] ?? {}
      const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
      const type = typeOf(property, { ...place, indent })
      return `${comment(property.description, indent)}${indent}${key}${required.includes(name) ? '' : '?'}: ${type}\n`
    })
  const rest = typeof additionalProperties === 'object' ? typeOf(additionalProperties, place) : 'any'
  if (members.length === 0) return additionalProperties === false ? '{}' : `{ [name: string]: ${rest} }`
  return `{\n${members.join('')}${place.indent}}`
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ') || 'never'
}

/** Text of third parties stays a comment, whatever it holds. */
function comment(text: string | undefined, indent: string): string {
  if (text === undefined || text === '') return ''
  return `${indent}/** ${text.replaceAll(/\s+/g, ' ').replaceAll('*/', '* /').trim()} */\n`
}

function resolveReference(reference: string, root: JsonSchema): Subschema | undefined {
  if (reference === '#') return root
  const [, name] = /^#\/\$defs\/([^/]+)$/.exec(reference) ?? []
  if (name === undefined) return undefined
  const key = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
  const defs = root.$defs ?? {}
  return Object.hasOwn(defs, key) ? defs[key] : undefined
}
