import type { JsonObject } from '../../../contract/base/json.ts'
import type { StandardSchemaV1 } from '@modelcontextprotocol/client'
import { isJsonObject } from '../../../kit/json/is-json-object.ts'

/** A result as it came, so that nothing of it is lost that only a later revision knows. */
export const asIs: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'handrail',
    validate: (value) =>
      isJsonObject(value) ? { value } : { issues: [{ message: 'The result is not an object.' }] },
  },
}
