import type { Issue } from '../contract/base/json.ts'
import { findUnknownFields } from './json/find-unknown-fields.ts'
import { isPlainObject } from './json/is-plain-object.ts'

const fields = ['provider', 'name'] as const

/** What is wrong with a value that should name a model. Pointers begin with `/model`. */
export function findModelIssues(model: unknown): Issue[] {
  if (model === undefined) return []
  if (!isPlainObject(model))
    return [{ pointer: '/model', code: 'wrong_type', message: 'Give an object with "provider", and "name".' }]
  const unknown = findUnknownFields(model, fields).map((issue) => ({
    ...issue,
    pointer: `/model${issue.pointer}`,
  }))
  const isText = (field: string): boolean => typeof model[field] === 'string' && model[field] !== ''
  const bad = fields.filter((field) => !isText(field) && (field === 'provider' || field in model))
  return [
    ...unknown,
    ...bad.map((field) => ({
      pointer: `/model/${field}`,
      code: 'wrong_type',
      message: 'Give a name as text.',
    })),
  ]
}
