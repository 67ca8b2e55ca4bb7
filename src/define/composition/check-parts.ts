import type { Issue } from '../../contract/base/json.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { checkTemplate, type SourceSchemas } from './check-template.ts'
import type { Composition } from './composed-parts.ts'

/** What can be referred to in a composition. */
export function toSources(
  { inputSchema, parts }: Pick<Composition, 'inputSchema' | 'parts'>,
  definitions?: ReadonlyMap<string, ToolDefinition>,
): SourceSchemas {
  const returned = parts.map(({ part, definition, returns }) => {
    const now = definitions?.get(part) ?? definition
    return [part, isSame(now, definition) ? returns : now.outputSchema] as const
  })
  return new Map([['input', inputSchema], ...returned])
}

/** Every place where what a part returns, or the composition takes, may not fit the input of a later part. Pointers lead into the spec. */
export function checkParts(
  composition: Composition,
  definitions: ReadonlyMap<string, ToolDefinition> = definitionsOf(composition.parts),
): Issue[] {
  const sources = toSources(composition, definitions)
  return composition.parts.flatMap(({ part, input, definition }) =>
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

function isSame(one: ToolDefinition, other: ToolDefinition): boolean {
  return one === other || canonicalJson(one) === canonicalJson(other)
}
