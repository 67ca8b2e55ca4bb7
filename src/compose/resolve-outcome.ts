import type { BeginRecord, NoteRecord } from '../contract/evidence.ts'
import type { Json } from '../contract/base/json.ts'
import type { Registry } from '../contract/registry.ts'
import { resolveOutcome as recordFinding, type Finding } from '../evidence/resolve-outcome.ts'
import { listIssues } from '../kit/json/list-issues.ts'
import { isIssue, toJson } from '../kit/json/to-json.ts'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'

/** What a person found out about a call, with the tools that its result is held to. */
export interface ResolveRequest extends Finding {
  /** The tools of a runtime, such as `runtime.registry`: a result is held to the output schema of its tool. Needed with a result. */
  registry?: Pick<Registry, 'view'>
}

/**
 * Records what a person found out about a call whose outcome was unknown, in one transaction with what its idempotency key
 * answers from then on: the result if the effect happened, nothing if it did not. Says why if it cannot; then nothing is recorded.
 *
 * @example
 * await resolveOutcome({
 *   store: runtime.store,
 *   registry: runtime.registry,
 *   call: 'call_1m7zes1193bsvjc71ag',
 *   outcome: 'happened',
 *   result: { paid: 12 },
 *   actor: 'ann',
 *   at: Date.now(),
 * })
 */
export async function resolveOutcome({
  registry,
  result: given,
  ...finding
}: ResolveRequest): Promise<{ note: NoteRecord } | { refused: string }> {
  if (given === undefined) return recordFinding(finding)
  if (finding.outcome === 'not_happened')
    return { refused: 'What did not happen has no result: leave it out.' }
  const copied = toJson(given)
  if (isIssue(copied))
    return { refused: `The result is not JSON: ${listIssues([copied], 'the whole of it')}` }
  const { json: result } = copied
  return recordFinding({ ...finding, result, findMisfit: (begin) => findMisfit(begin, result, registry) })
}

/** Characters of a result that a person hands in. */
const mostCharacters = 32_768

/** Why this cannot be what the call returned. */
function findMisfit(
  { tool, tenant }: BeginRecord,
  result: Json,
  registry: ResolveRequest['registry'],
): string | undefined {
  const { length } = JSON.stringify(result)
  if (length > mostCharacters)
    return `The result has ${length} characters, and one that a person gives may have ${mostCharacters}. Leave out of it what its caller can do without.`
  if (registry === undefined)
    return 'A result is held to the output schema of its tool. Hand in the "registry" of a runtime that has the tool, or leave out the result.'
  const registered = registry.view(tenant).find(tool)
  if (registered === undefined)
    return `There is no tool "${tool}" here, so that the result cannot be held to its output schema. Say it where the tool is, or leave out the result.`
  const { outputSchema } = registered.definition
  if (outputSchema === undefined) return undefined
  const checked = createSchemaChecker().check(outputSchema, result)
  if (checked.ok) return undefined
  return `The result does not fit the output schema of "${tool}": ${listIssues(checked.issues, 'the whole of it')} Nothing was recorded; say one that fits, or leave out the result.`
}
