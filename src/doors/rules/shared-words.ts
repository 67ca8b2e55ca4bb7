/** Keywords that make a schema of several others. */
export const combinators: readonly string[] = ['oneOf', 'anyOf', 'allOf']

/** A name that nearly every API takes. */
export const plainName = /^[a-zA-Z0-9_-]{1,64}$/

/** A name of a property, as the API of Claude takes it. */
export const claudeKey = /^[a-zA-Z0-9_.-]{1,64}$/
