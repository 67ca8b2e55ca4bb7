import type { Issue, Json } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import type { CallScope } from '../state/scope.ts'

/** What keeps data from fitting an output schema; nothing if there is none. */
export function findOutputIssues(
  schema: JsonSchema | undefined,
  data: Json,
  { tenant }: CallScope,
): readonly Issue[] {
  if (schema === undefined) return noIssues
  const checked = tenant.checker.check(schema, data)
  return checked.ok ? noIssues : checked.issues
}

const noIssues: readonly Issue[] = []
