import { SetupError } from '../contract/base/errors.ts'
import type { Issue, Json } from '../contract/base/json.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import type { Tool } from '../contract/tool/tool.ts'
import { composeTools } from '../define/composition/compose-tools.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { nearestNames } from '../kit/text/nearest-names.ts'
import { compositionFileSchema, type CompositionFile } from './composition-schema.ts'

/** The tools that a file may make one of, by their names. */
export type KnownTools = ReadonlyMap<string, Tool>

/** The composition that a file declares, or every issue of it. */
export function parseComposition(
  value: Json,
  { checker, known }: { checker: SchemaChecker; known: KnownTools },
): { tool: Tool } | { issues: readonly Issue[] } {
  const checked = checker.check(compositionFileSchema, value)
  if (!checked.ok) return checked
  const given: unknown = checked.value
  // The schema of the file has just been held against the value.
  const file = given as CompositionFile
  const missing = Object.entries(file.parts).flatMap(([part, { tool }]) => findMissing(part, tool, known))
  if (missing.length > 0) return { issues: missing }
  try {
    return { tool: toTool(file, known) }
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    const { issues, message } = error
    return { issues: issues.length > 0 ? issues : [{ pointer: '', code: 'invalid_definition', message }] }
  }
}

function findMissing(part: string, tool: string, known: KnownTools): Issue[] {
  if (known.has(tool)) return []
  const near = nearestNames(tool, known.keys(), 1)
  const advice = near.length > 0 ? ` Did you mean "${near.join()}"?` : ''
  const message = `There is no built-in tool "${tool}", and no file of this folder that declares it.${advice} Tools of MCP servers are composed in a program.`
  return [{ pointer: pointerTo(pointerTo('/parts', part), 'tool'), code: 'unknown_tool', message }]
}

function toTool(
  { $schema: _schema, input_schema: input, parts, returns, ...manifest }: CompositionFile,
  known: KnownTools,
): Tool {
  const specified = Object.entries(parts).map(([part, { tool, ...rest }]) => {
    const found = known.get(tool)
    if (found === undefined) throw new Error(`There is no "${tool}".`)
    return [part, { ...rest, tool: found }] as const
  })
  return composeTools({
    ...manifest,
    input,
    parts: Object.fromEntries(specified),
    ...(returns !== undefined && { output: returns }),
  })
}
