/** A schema as it comes: an object whose keywords are not checked yet. */
export type Keywords = Readonly<Record<string, unknown>>

/** Whether a value is an object that may be a schema. */
export function isKeywords(value: unknown): value is Keywords {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
