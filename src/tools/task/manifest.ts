import type { Plan } from '../../contract/tool/plan.ts'
import { showControls } from '../../kit/text/show-controls.ts'

/** What tools that look at tasks share. */
export const looksAtTasks = {
  tags: ['task', 'readonly'],
  permission: 'readonly',
  sideEffect: 'none',
  scopes: [{ resource: 'handrail:task:*', action: 'read' }],
  annotations: { readOnlyHint: true, openWorldHint: false },
  needs: ['tasks'],
} as const

/** What tools that change tasks share. Calls of many workers go on at a time. */
export const changesTasks = {
  tags: ['task', 'write'],
  permission: 'write',
  sideEffect: 'write',
  scopes: [{ resource: 'handrail:task:*', action: 'write' }],
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  limits: { concurrency: 64 },
  needs: ['tasks'],
} as const

/** A look at a task; without an id, at all of them. */
export async function planLook(task = '*'): Promise<Plan & { planned: null }> {
  return { operations: [{ kind: 'other', resource: `handrail:task:${task}` }], planned: null }
}

/** A change of a task. A yes for the session holds for the tool, whatever the task. */
export async function planChange(
  task: string,
  preview: { title: string; body: string },
): Promise<Plan & { planned: null }> {
  return {
    operations: [{ kind: 'other', resource: `handrail:task:${task}` }],
    preview: { kind: 'text', title: preview.title, body: showControls(preview.body) },
    scope: 'tasks of this user',
    planned: null,
  }
}
