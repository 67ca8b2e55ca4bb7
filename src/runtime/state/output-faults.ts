import type { Fault, Json } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import type { CallScope } from './scope.ts'

/** What keeps data from fitting an output schema; nothing if there is none. */
export function findOutputFaults(
  schema: JsonSchema | undefined,
  data: Json,
  { tenant }: CallScope,
): readonly Fault[] {
  if (schema === undefined) return noFaults
  const checked = tenant.checker.check(schema, data)
  return checked.ok ? noFaults : checked.faults
}

const noFaults: readonly Fault[] = []
