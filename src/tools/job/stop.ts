import type { Tool } from '../../contract/base/tool.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { idField, jobData, jobLine, jobSchema } from './show-job.ts'

/** `job.stop`: ends a job with all that belongs to it. */
export function stopTool(): Tool {
  return defineBuiltin({
    name: 'job.stop',
    title: 'Stop job',
    description:
      'Ends a background command of this session with all its processes, or a background agent with its calls and all that it started. One that has ended stays as it is.',
    tags: ['job', 'process'],
    permission: 'write',
    sideEffect: 'process',
    scopes: [{ resource: 'handrail:job:*', action: 'write' }],
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    needs: ['jobs'],
    input: {
      type: 'object',
      properties: {
        id: idField,
        reason: { type: 'string', maxLength: 500, description: 'Why, in one line.' },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: { job: jobSchema },
      required: ['job'],
      additionalProperties: false,
    },
    compatible: {
      name: 'TaskStop',
      inputSchema: {
        type: 'object',
        properties: { task_id: idField },
        required: ['task_id'],
        additionalProperties: false,
      },
      toCanonical: ({ task_id }) => ({ id: task_id ?? '' }),
    },
    decode: (input) => ({
      id: input.id,
      reason: showControls(input.reason ?? 'no reason given').replaceAll(/\s+/g, ' '),
    }),
    plan: async ({ id, reason }) => ({
      operations: [{ kind: 'other', resource: `handrail:job:${id}` }],
      preview: { kind: 'text', title: `Stop job ${showControls(id)}`, body: reason },
      scope: 'jobs of this session',
      planned: id,
    }),
    async run({ id, reason }, { jobs }) {
      const job = await jobs.stop(id, reason)
      return toolOutput({
        content: [{ type: 'text', text: jobLine(job) }],
        summary: jobLine(job),
        data: { job: jobData(job) },
      })
    },
  })
}
