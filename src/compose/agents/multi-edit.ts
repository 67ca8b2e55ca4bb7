import type { JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { MappedCall } from './native-agent.ts'
import { fieldOf, textOf } from './read-fields.ts'

/** Several edits of one file, in order. Undefined if that is not what the input says. */
export function multiEdit(input: JsonObject): readonly MappedCall[] | undefined {
  const path = textOf(input, 'file_path')
  const edits = fieldOf(input, 'edits')
  if (path === undefined || !Array.isArray(edits)) return undefined
  const read = edits.map((edit) => {
    if (!isPlainObject(edit)) return undefined
    const { old_string, new_string, replace_all = false } = edit
    if (typeof old_string !== 'string' || typeof new_string !== 'string') return undefined
    return { old: old_string, new: new_string, replace_all: replace_all === true }
  })
  const whole = read.filter((edit) => edit !== undefined)
  if (whole.length !== edits.length) return undefined
  return [{ tool: 'code.edit_file', input: { path, edits: whole, create_if_missing: whole[0]?.old === '' } }]
}
