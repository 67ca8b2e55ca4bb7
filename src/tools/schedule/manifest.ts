/** What tools that look at schedules share. */
export const looksAtSchedules = {
  tags: ['schedule', 'readonly'],
  permission: 'readonly',
  sideEffect: 'none',
  scopes: [{ resource: 'handrail:schedule:*', action: 'read' }],
  annotations: { readOnlyHint: true, openWorldHint: false },
  needs: ['schedules'],
} as const

/** What tools that change schedules share. */
export const changesSchedules = {
  tags: ['schedule', 'write'],
  permission: 'write',
  sideEffect: 'write',
  scopes: [{ resource: 'handrail:schedule:*', action: 'write' }],
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  needs: ['schedules'],
} as const
