import type { Tool } from '@modelcontextprotocol/server'
import type { PresentedTool } from '../../contract/registry.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'

/**
 * A tool as `tools/list` shows it: name, title, description, schemas, and the annotations that are set. MCP asks for
 * an object at the root of both schemas: an input schema without a type gets it, another output schema is left out.
 */
export function toMcpTool(tool: PresentedTool, wireName: string): Tool {
  const input = toPlainSchema(tool.inputSchema)
  const output = tool.outputSchema && toPlainSchema(tool.outputSchema)
  return {
    name: wireName,
    title: tool.title,
    description: tool.description,
    inputSchema: isObjectSchema(input) ? input : { ...input, type: 'object' },
    ...(output !== undefined && isObjectSchema(output) && { outputSchema: output }),
    ...(tool.annotations !== undefined && { annotations: { ...tool.annotations } }),
  }
}

function isObjectSchema(schema: object): schema is Tool['inputSchema'] {
  return 'type' in schema && schema.type === 'object'
}

/** `nullable` is not a keyword of draft 2020-12, which clients read: says it with the type instead. */
function toPlainSchema(schema: JsonSchema): object {
  if (!saysNullable(schema)) return schema
  const { nullable, type, enum: values, items, properties, additionalProperties, ...rest } = schema
  const plain: { [keyword: string]: unknown } = { ...rest }
  if (type !== undefined) plain['type'] = nullable === true ? [...new Set([type, 'null'].flat())] : type
  if (values !== undefined)
    plain['enum'] = nullable === true && !values.includes(null) ? [...values, null] : values
  if (items !== undefined) plain['items'] = toPlainSchema(items)
  if (properties !== undefined) {
    plain['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, toPlainSchema(property)]),
    )
  }
  if (additionalProperties !== undefined) {
    plain['additionalProperties'] =
      typeof additionalProperties === 'boolean' ? additionalProperties : toPlainSchema(additionalProperties)
  }
  return plain
}

/** Whether `nullable` stands anywhere that is rewritten. */
function saysNullable({ nullable, items, properties, additionalProperties }: JsonSchema): boolean {
  if (nullable !== undefined) return true
  if (items !== undefined && saysNullable(items)) return true
  if (typeof additionalProperties === 'object' && saysNullable(additionalProperties)) return true
  return properties !== undefined && Object.values(properties).some(saysNullable)
}
