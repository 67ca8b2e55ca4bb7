import type { Issue } from '../../contract/base/json.ts'
import type { DuplicatePolicy } from '../../contract/registry.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { ownServices } from '../../contract/tool/services.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { findMissingServices } from '../../kit/find-missing-services.ts'
import { isBuiltin } from '../../kit/builtin-tools.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { checkDefinition } from './check-definition.ts'
import { checkCompatible, takenPresentation } from './check-compatible.ts'
import { judgeUpdate } from './judge-update.ts'
import { isForeign, type Entry } from '../state/to-entry.ts'

/** A later source may replace a tool only if it ranks higher. */
const rank = { builtin: 0, agent: 0, task: 0, code: 1, declarative: 1, mcp: 2, a2a: 2 } as const

/** What becomes of a tool that wants to be registered. */
export interface Verdict {
  take: boolean
  issues: readonly Issue[]
  /** Set if it should be reported although nothing is thrown. */
  report?: 'duplicate_tool' | 'tool_quarantined'
  message: string
}

/** Where a tool wants to stand. */
export interface Place {
  duplicates: DuplicatePolicy
  /** Whether a newer version takes the place of the tool of its own source, and whether an older one may too. */
  update: 'no' | 'newer' | 'any'
  /** The tool that has the name already. */
  earlier: Entry | undefined
  /** That tool stands in this very place, not in that of all tenants or of another one. */
  isSamePlace: boolean
  /** The canonical name of the tool that has the compatible name already. */
  presentationHolder: string | undefined
}

/** What is wrong with a tool itself. Handrail's own tools are spared this at every start: the tests have done it. */
export function checkTool({ definition, tool, kind }: Entry, checker: SchemaChecker): Issue[] {
  if (isBuiltin(tool)) return []
  return [
    ...(kind === 'builtin' ? [notBuiltin] : []),
    ...checkDefinition(definition, checker, isForeign(kind)),
    ...(tool.compatible === undefined ? [] : checkCompatible(tool.compatible, checker)),
  ]
}

/** What a tool needs and the runtime was not given, for its developer; undefined if nothing is missing. */
export function describeMissing(
  { name, needs }: ToolDefinition,
  ofHost: Readonly<Record<string, unknown>>,
): string | undefined {
  const missing = findMissingServices(needs, ofHost)
  if (missing.length === 0) return undefined
  const known = [...ownServices, ...Object.keys(ofHost).filter((each) => ofHost[each] !== undefined)]
  const shown = missing.map((need) => `"${need.slice(0, 80)}"`).join(', ')
  return `"${name}" needs ${shown}, which this runtime was not given, so each of its calls will fail. Hand it to createRuntime({ services }), or name one of ${known.join(', ')}.`
}

const notBuiltin: Issue = {
  pointer: '',
  code: 'invalid_source',
  message:
    'Only tools that come with Handrail are of the kind "builtin". Give the kind of its source as "code".',
}

/** Whether the names of a tool are free, or may be replaced. */
export function judgePlace(entry: Entry, place: Place): Verdict {
  const { definition, tool } = entry
  const { presentationHolder, earlier } = place
  if (
    tool.compatible !== undefined &&
    presentationHolder !== undefined &&
    presentationHolder !== definition.name
  )
    return refuse(entry, [takenPresentation(definition.name, tool.compatible.name, presentationHolder)])
  if (earlier === undefined) return { take: true, issues: [], message: '' }
  const isUpdate = place.update !== 'no' && place.isSamePlace && earlier.source === entry.source
  return isUpdate ? judgeNewer(earlier, entry, place) : judgeDuplicate(earlier, entry, place)
}

/** A tool that is not taken, because of these issues. */
export function refuse({ definition, source }: Entry, issues: readonly Issue[]): Verdict {
  const name = String(definition.name).slice(0, 80)
  const place = pointerTo('', name)
  const reasons = issues.map(({ pointer, message }) => (pointer === '' ? message : `${pointer}: ${message}`))
  return {
    take: false,
    issues: issues.map((issue) => ({ ...issue, pointer: place + issue.pointer })),
    report: 'tool_quarantined',
    message: `"${name}" of source "${source}" is left out, the others are not. ${reasons.join(' ')}`,
  }
}

/** Sources outside of the program know nothing of our versions; what changes there waits for approval. */
function judgeNewer(earlier: Entry, later: Entry, { update }: Place): Verdict {
  const issues = later.outside ? [] : judgeUpdate(earlier, later, update === 'any')
  return issues.length > 0 ? refuse(later, issues) : { take: true, issues: [], message: '' }
}

function judgeDuplicate(earlier: Entry, later: Entry, { duplicates }: Place): Verdict {
  const both = `"${later.definition.name}" of source "${later.source}" is registered already by source "${earlier.source}"`
  const duplicate = (message: string) => refuse(later, [{ pointer: '', code: 'duplicate_tool', message }])
  const report = 'duplicate_tool'
  if (duplicates === 'keep-first')
    return { take: false, issues: [], report, message: `${both}; the first is kept.` }
  if (duplicates === 'error')
    return duplicate(`${both}. Rename one, or set the option "duplicates" to "keep-first" or "replace".`)
  if (rank[later.kind] <= rank[earlier.kind])
    return duplicate(
      `${both}, and a source of kind "${later.kind}" may not replace one of kind "${earlier.kind}".`,
    )
  return { take: true, issues: [], report, message: `${both}; it is replaced.` }
}
