import type { JsonObject } from '../../contract/base/json.ts'
import type { CompatiblePresentation } from '../../contract/tool/tool.ts'
import { ownerField, taskField, tasksField, textField, titleField } from './fields.ts'

const states: { readonly [status: string]: string } = {
  in_progress: 'running',
  deleted: 'cancelled',
}

/** `agent.task_update` as models know it: fields of one task. */
export const updatePresentation: CompatiblePresentation = {
  name: 'TaskUpdate',
  description:
    'Changes a task: its status, its texts, its owner, and which tasks wait for which. A task that is deleted is kept as cancelled.',
  inputSchema: {
    type: 'object',
    properties: {
      taskId: taskField,
      status: { type: 'string', enum: ['pending', 'in_progress', 'completed', 'deleted'] },
      subject: titleField,
      description: textField,
      owner: ownerField,
      activeForm: { type: 'string', description: 'Not kept.' },
      addBlocks: { ...tasksField, description: 'Tasks that are to wait for this one.' },
      addBlockedBy: { ...tasksField, description: 'Tasks that this one is to wait for.' },
    },
    required: ['taskId'],
    additionalProperties: false,
  },
  toCanonical({ taskId, status, subject, description, owner, addBlocks, addBlockedBy }) {
    const operation: JsonObject = {
      op: 'update_task',
      ...(subject !== undefined && { title: subject }),
      ...(description !== undefined && { summary: description }),
      ...(owner !== undefined && { owner }),
      ...(typeof status === 'string' && { status: states[status] ?? status }),
      ...(addBlocks !== undefined && { add_blocks: addBlocks }),
      ...(addBlockedBy !== undefined && { add_depends_on: addBlockedBy }),
    }
    return { task_id: taskId ?? '', operations: [operation] }
  },
}
