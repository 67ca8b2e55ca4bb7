import type { JsonSchema } from '../../contract/base/schema.ts'
import { usesMoreThanSubset } from '../base/keyword-children.ts'
import { inspectSchema } from '../inspect/inspect-schema.ts'
import { normaliseSchema } from './normalise-schema.ts'

/**
 * A schema that an engineer wrote, in its simplest form: as it is, if it stays within the subset or has issues, which are for its
 * registration to tell.
 */
export function simplifyOwn(schema: JsonSchema): JsonSchema {
  if (!usesMoreThanSubset(schema) || inspectSchema(schema, 'own').length > 0) return schema
  return normaliseSchema({ ...schema }).schema
}
