import type { JsonSchema } from '../../contract/base/schema.ts'

/** Fields of the tools for teams. */
export const teamFields = {
  member: {
    type: 'string',
    pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]*$',
    maxLength: 64,
    description: 'Name of a member: letters, digits, "_", "." and "-".',
  },
  team: {
    type: 'string',
    pattern: '^[A-Za-z0-9_][A-Za-z0-9_. -]*$',
    maxLength: 100,
    description: 'Name of a team: letters, digits, spaces, "_", "." and "-".',
  },
} as const satisfies { readonly [field: string]: JsonSchema }

/** What the tools for teams share. They change what agents of the session read, and nothing outside: what an agent does of it are calls of its own. */
export const worksWithTeams = {
  tags: ['team', 'readonly'] as string[],
  permission: 'readonly',
  sideEffect: 'none',
  scopes: [{ resource: 'handrail:team:*', action: 'write' }],
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  concurrency: 'serial',
  needs: ['teams'],
} as const
