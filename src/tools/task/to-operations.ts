import { ToolFailure } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { TaskOperation, TaskState } from '../../contract/services/tasks.ts'

/** An operation as it stands in the input. */
export interface GivenOperation {
  op: TaskOperation['op']
  step_id?: string | undefined
  title?: string | undefined
  description?: string | undefined
  depends_on?: readonly string[] | undefined
  summary?: string | undefined
  owner?: string | undefined
  status?: TaskState | undefined
  add_depends_on?: readonly string[] | undefined
  remove_depends_on?: readonly string[] | undefined
  add_blocks?: readonly string[] | undefined
  reason?: string | undefined
}

type Field = Exclude<keyof GivenOperation, 'op'>

const fields: { readonly [Op in TaskOperation['op']]: { needs: readonly Field[]; takes: readonly Field[] } } =
  {
    update_task: {
      needs: [],
      takes: ['title', 'summary', 'owner', 'status', 'add_depends_on', 'remove_depends_on', 'add_blocks'],
    },
    add_step: { needs: ['step_id', 'title'], takes: ['description', 'depends_on'] },
    update_step: { needs: ['step_id'], takes: ['title', 'description'] },
    delete_step: { needs: ['step_id'], takes: [] },
    add_dependency: { needs: ['step_id', 'depends_on'], takes: [] },
    remove_dependency: { needs: ['step_id', 'depends_on'], takes: [] },
    cancel_step: { needs: ['step_id'], takes: ['reason'] },
    reopen_step: { needs: ['step_id'], takes: [] },
  }

/** The operations of an input. Throws `invalid_input` with every field that is missing, or that its operation does not take. */
export function toOperations(given: readonly GivenOperation[]): TaskOperation[] {
  const issues = given.flatMap(findIssues)
  if (issues.length > 0)
    throw new ToolFailure({
      code: 'SCHEMA.VALIDATION_FAILED',
      reason: 'invalid_input',
      message: issues.map(({ pointer, message }) => `${pointer}: ${message}`).join(' '),
      issues,
    })
  return given.flatMap(toOperation)
}

function findIssues(given: GivenOperation, index: number): Issue[] {
  const { needs, takes } = fields[given.op]
  const { op: _, ...present } = given
  const missing = needs.filter((field) => given[field] === undefined)
  const isStrange = (name: string): boolean => ![...needs, ...takes].some((field) => field === name)
  const strange = Object.entries(present).flatMap(([name, value]) =>
    value !== undefined && isStrange(name) ? [name] : [],
  )
  return [
    ...missing.map((field) => ({
      pointer: `/operations/${index}/${field}`,
      code: 'required',
      message: `${given.op} needs "${field}".`,
    })),
    ...strange.map((field) => ({
      pointer: `/operations/${index}/${field}`,
      code: 'unknown_field',
      message: `${given.op} takes no "${field}".`,
    })),
  ]
}

function toOperation(given: GivenOperation): TaskOperation[] {
  const { op, step_id: step = '', title, description, depends_on: dependsOn = [], reason } = given
  switch (op) {
    case 'update_task':
      return [
        {
          op,
          title,
          summary: given.summary,
          owner: given.owner,
          state: given.status,
          addDependsOn: given.add_depends_on,
          removeDependsOn: given.remove_depends_on,
          addBlocks: given.add_blocks,
        },
      ]
    case 'add_step':
      return [{ op, step: { id: step, title: title ?? '', description, dependsOn } }]
    case 'update_step':
      return [{ op, step, title, description }]
    case 'add_dependency':
    case 'remove_dependency':
      return dependsOn.map((on) => ({ op, step, dependsOn: on }))
    case 'cancel_step':
    case 'reopen_step':
      return [{ op, step, reason }]
    case 'delete_step':
      return [{ op, step }]
  }
}
