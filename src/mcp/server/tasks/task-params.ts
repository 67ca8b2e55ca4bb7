import type { StandardSchemaV1 } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** A request about a task names it. */
export const taskParams: StandardSchemaV1<{ readonly taskId: string }> = {
  '~standard': {
    version: 1,
    vendor: 'handrail',
    validate: (value) =>
      isPlainObject(value) && typeof value['taskId'] === 'string'
        ? { value: { taskId: value['taskId'] } }
        : { issues: [{ message: 'taskId must be a string' }] },
  },
}
