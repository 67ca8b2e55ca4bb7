/** Schemas of fields that several tools share. */
export const pathField = {
  type: 'string',
  minLength: 1,
  maxLength: 4096,
  description: 'Relative to the project root, or absolute.',
} as const

/** A directory or file to look in; default: the project root. */
export const whereField = {
  type: 'string',
  minLength: 1,
  maxLength: 4096,
  default: '.',
  description: 'Relative to the project root, or absolute. Default: the project root.',
} as const

export const excludedField = {
  type: 'array',
  items: { type: 'string' },
  description: 'Globs of sensitive paths that were left out.',
} as const

/** Scopes of tools that read, and of those that write files. */
export const readScopes = [{ resource: 'handrail:file:*', action: 'read' }] as const
export const writeScopes = [
  { resource: 'handrail:file:*', action: 'read' },
  { resource: 'handrail:file:*', action: 'write' },
] as const
