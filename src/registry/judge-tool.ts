import type { Fault } from '../contract/json.ts'
import type { DuplicatePolicy, Registered } from '../contract/registry.ts'
import type { SchemaChecker } from '../contract/schema.ts'
import type { ToolSource } from '../contract/tool.ts'
import { pointerTo } from '../kit/json-pointer.ts'
import { checkDefinition } from './check-definition.ts'
import { checkFamiliar, takenFace } from './check-familiar.ts'

/** A later source may replace a tool only where it ranks higher. */
const rank = { builtin: 0, agent: 0, task: 0, code: 1, declarative: 1, mcp: 2 } as const

/** A tool with the kind of its source. */
export interface Entry extends Registered {
  readonly kind: ToolSource['kind']
}

/** What becomes of a tool that wants to be registered. */
export interface Verdict {
  take: boolean
  faults: readonly Fault[]
  /** Set where somebody should hear of it although nothing is thrown. */
  report?: 'duplicate_tool' | 'tool_quarantined'
  message: string
}

interface Surroundings {
  checker: SchemaChecker
  duplicates: DuplicatePolicy
  /** Canonical names by familiar name. */
  faces: ReadonlyMap<string, string>
  /** The tool that has the name already. */
  earlier: Entry | undefined
}

/** Whether a tool may be registered: its definition and its face hold, and its names are free or may be replaced. */
export function judgeTool(entry: Entry, { checker, duplicates, faces, earlier }: Surroundings): Verdict {
  const { definition, tool, kind } = entry
  const holder = tool.familiar === undefined ? undefined : faces.get(tool.familiar.name)
  const faults = [
    ...(kind === 'builtin' ? [] : checkTool(entry, checker)),
    ...(tool.familiar === undefined || holder === undefined || holder === definition.name
      ? []
      : [takenFace(definition.name, tool.familiar.name, holder)]),
  ]
  if (faults.length > 0) return refuse(entry, faults)
  return earlier === undefined
    ? { take: true, faults: [], message: '' }
    : judgeDuplicate(earlier, entry, duplicates)
}

/** Built-in tools are spared this at every start: the tests have done it. */
function checkTool({ definition, tool, kind }: Entry, checker: SchemaChecker): Fault[] {
  return [
    ...checkDefinition(definition, checker, kind === 'mcp' ? 'imported' : 'native'),
    ...(tool.familiar === undefined ? [] : checkFamiliar(tool.familiar, checker)),
  ]
}

function refuse({ definition }: Entry, faults: readonly Fault[]): Verdict {
  const place = pointerTo('', String(definition.name).slice(0, 80))
  return {
    take: false,
    faults: faults.map((fault) => ({ ...fault, pointer: place + fault.pointer })),
    report: 'tool_quarantined',
    message: faults.map((fault) => fault.message).join(' '),
  }
}

function judgeDuplicate(earlier: Entry, later: Entry, duplicates: DuplicatePolicy): Verdict {
  const both = `"${later.definition.name}" of source "${later.source}" is registered already by source "${earlier.source}"`
  const duplicate = (message: string) => refuse(later, [{ pointer: '', code: 'duplicate_tool', message }])
  const report = 'duplicate_tool'
  if (duplicates === 'keep-first')
    return { take: false, faults: [], report, message: `${both}; the first is kept.` }
  if (duplicates === 'error')
    return duplicate(`${both}. Rename one, or choose the duplicate policy "keep-first" or "replace".`)
  if (rank[later.kind] <= rank[earlier.kind])
    return duplicate(
      `${both}, and a source of kind "${later.kind}" may not replace one of kind "${earlier.kind}".`,
    )
  return { take: true, faults: [], report, message: `${both}; it is replaced.` }
}
