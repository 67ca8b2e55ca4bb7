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

/** What is true of every tool that reads files. */
export const readsFiles = {
  tags: ['code', 'filesystem', 'readonly'],
  permission: 'readonly',
  sideEffect: 'read',
  scopes: [{ resource: 'handrail:file:*', action: 'read' }],
  capabilities: { fs: { read: ['*'] } },
  annotations: { readOnlyHint: true, openWorldHint: false },
} as const

const writeScopes = [
  { resource: 'handrail:file:*', action: 'read' },
  { resource: 'handrail:file:*', action: 'write' },
] as const

/** Scopes of tools that run programs. */
export const runScopes = [{ resource: 'handrail:exec:*', action: 'execute' }, ...writeScopes] as const

/** Every root that the session and the policy allow. Whether the folder for temporary files is one, the operator says. */
export const writesAnywhere = { fs: { read: ['*'], write: ['*'] }, tmp: true } as const

/** What is true of every tool that changes files. */
export const changesFiles = {
  tags: ['code', 'filesystem', 'write'],
  permission: 'write',
  sideEffect: 'filesystem',
  scopes: writeScopes,
  capabilities: writesAnywhere,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  needs: ['files'],
} as const

/** What is true of every tool that runs commands. */
export const backgroundField = {
  type: 'boolean',
  default: false,
  description: 'Answer at once with the id of a job that runs on: see job.output. It ends with the session.',
} as const

export const dryRunField = {
  type: 'boolean',
  default: false,
  description:
    'Run it, show what it would change, and keep nothing: every file stays as it was, and no host is reached.',
} as const

export const reviewField = {
  type: 'boolean',
  default: false,
  description: 'Let a person see what it changes, and decide whether that is kept.',
} as const

export const purposeField = {
  type: 'string',
  maxLength: 500,
  description: 'What it is for, in one line, for the person who is asked.',
} as const

export const commandTimeField = {
  type: 'integer',
  minimum: 1,
  maximum: 600_000,
  description: 'Default: 120000; of a job: as long as the session.',
} as const
