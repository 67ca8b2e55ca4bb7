import type { ApprovalBinding } from '../../contract/approval.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { PartCalls, PartLook } from '../../contract/tool/part-calls.ts'
import type { Operation, Plan, PlanContext } from '../../contract/tool/plan.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { checkParts } from './check-parts.ts'
import type { ComposedPart, Composition } from './composed-parts.ts'
import { fillInput, referencesOf } from './template.ts'

/** What the plan of a composition leaves for its run. */
export interface PlannedComposition {
  /** What the person sees of each part that can be seen before. */
  readonly seen: ReadonlyMap<string, ApprovalBinding>
}

/** A composition that can run, and what its parts would do, as far as that can be known before. */
export async function planComposition(
  composition: Composition,
  input: JsonObject,
  { parts: calls }: Pick<PlanContext, 'parts'>,
): Promise<Plan & { planned: PlannedComposition }> {
  if (calls === undefined) throw new Error('A composition needs the service "parts".')
  const changed = holdToNow(composition, calls)
  const seen = new Map<string, ApprovalBinding>()
  const operations: Operation[] = []
  const lines: string[] = []
  for (const [index, part] of composition.parts.entries()) {
    const look = await lookAt(part, input, calls)
    const title = `${index + 1}. ${part.part} (${part.definition.name})`
    // A tool that plans nothing may touch anything, too.
    operations.push(
      ...(look === undefined || look.operations.length === 0 ? [unknownOf(part)] : look.operations),
    )
    lines.push(describe(title, look))
    if (look?.binding !== undefined && !changed.has(part.part)) seen.set(part.part, look.binding)
  }
  return {
    operations,
    preview: {
      kind: 'text',
      title: `${composition.name}: ${composition.parts.length} parts`,
      body: lines.join('\n\n'),
    },
    planned: { seen },
  }
}

/**
 * The parts whose tool is another one by now than the composition was made with: their previews cover nothing. Fails if one is not there, or does not fit
 * any more.
 */
function holdToNow(composition: Composition, calls: Pick<PartCalls, 'definition'>): Set<string> {
  const definitions = new Map<string, ToolDefinition>()
  const changed = new Set<string>()
  for (const { part, definition } of composition.parts) {
    const now = calls.definition(definition.name)
    if (now === undefined) throw unavailable(part, definition.name)
    definitions.set(part, now)
    if (canonicalJson(now) !== canonicalJson(definition)) changed.add(part)
  }
  const issues = changed.size === 0 ? [] : checkParts(composition, definitions)
  if (issues.length === 0) return changed
  throw new ToolFailure({
    reason: 'parts_unfit',
    message: `"${composition.name}" cannot run: tools that it is made of changed, and do not fit each other any more. Tell its developer. Nothing was done.`,
    issues,
  })
}

function unavailable(part: string, tool: string): ToolFailure {
  return new ToolFailure({
    code: 'POLICY.DENY_TOOL',
    reason: 'tool_not_available',
    message: `The part "${part}" calls "${tool}", which this session does not have or may not call. Nothing was done.`,
    data: { part, tool },
  })
}

/** What would happen to a part, if its input is known before the others ran and it does not stand on what they do. */
async function lookAt(
  part: ComposedPart,
  input: JsonObject,
  calls: Pick<PartCalls, 'look'>,
): Promise<PartLook | undefined> {
  const isKnown = referencesOf(part.input).every(({ reference }) => reference.from === 'input')
  const own = isKnown ? fillInput(part.input, new Map([['input', input]])) : undefined
  if (own === undefined) return undefined
  const look = await calls.look({ part: part.part, tool: part.definition.name, input: own })
  if (look.error === undefined) return look
  // What its tool misses may be what an earlier part makes.
  const mayComeTrue = part.after.length > 0 && /^(TOOL|PROVIDER)\./.test(look.error.code)
  if (mayComeTrue) return undefined
  throw new ToolFailure({
    ...look.error,
    message: `The part "${part.part}" would not run, so none did. ${look.error.message}`,
    data: { ...look.error.data, part: part.part, tool: part.definition.name },
  })
}

/** Said of a part that is not known before: it may touch anything that its tool may. */
function unknownOf({ definition }: ComposedPart): Operation {
  return { kind: 'other', resource: `handrail:tool:${definition.name}/*` }
}

function describe(title: string, look: PartLook | undefined): string {
  if (look === undefined)
    return `${title}: what it does is known once the parts before it ran. This yes does not cover it; it is decided about, and asked about, when it comes.`
  const { preview } = look
  return preview === undefined ? title : `${title}: ${preview.title}\n${preview.body}`.trimEnd()
}
