import type { Issue } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { checkTemplate, type SourceSchemas } from './check-template.ts'
import type { Composition } from './composed-parts.ts'

/** What can be referred to in a composition. */
export function toSources(
  inputSchema: JsonSchema,
  definitions: ReadonlyMap<string, ToolDefinition>,
): SourceSchemas {
  return new Map([
    ['input', inputSchema],
    ...[...definitions].map(([part, { outputSchema }]) => [part, outputSchema] as const),
  ])
}

/** Every place where what a part returns, or the composition takes, may not fit the input of a later part. Pointers lead into the spec. */
export function checkParts(
  { inputSchema, parts }: Composition,
  definitions: ReadonlyMap<string, ToolDefinition> = definitionsOf(parts),
): Issue[] {
  const sources = toSources(inputSchema, definitions)
  return parts.flatMap(({ part, input, definition }) =>
    checkTemplate(input, (definitions.get(part) ?? definition).inputSchema, {
      sources,
      pointer: `${pointerTo('/parts', part)}/input`,
    }),
  )
}

/** The definitions that a composition was made with. */
export function definitionsOf(parts: Composition['parts']): ReadonlyMap<string, ToolDefinition> {
  return new Map(parts.map(({ part, definition }) => [part, definition]))
}
