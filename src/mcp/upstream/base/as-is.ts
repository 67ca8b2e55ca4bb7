import type { StandardSchemaV1 } from '@modelcontextprotocol/client'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** A result as it came, so that nothing of it is lost that only a later revision knows. */
export const asIs: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'handrail',
    validate: (value) =>
      isPlainObject(value) ? { value } : { issues: [{ message: 'The result is no object.' }] },
  },
}
