import type { WorkerReport } from '../../contract/base/child-agents.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import type { Tool } from '../../contract/base/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { stepsField, taskField } from '../task/fields.ts'
import { agentFields, startsAgents } from './fields.ts'
import { reportSchema, showEnd } from './show-report.ts'

/** `agent.dispatch_worker`: a worker of a pool does steps of a task. */
export function dispatchWorkerTool(): Tool {
  return defineBuiltin({
    ...startsAgents,
    name: 'agent.dispatch_worker',
    title: 'Dispatch worker',
    description:
      'Sets an idle worker to steps of a task: it claims them, does them, and says how each ended. Returns what it says at its end. Several that are dispatched in one answer work beside each other. A step that it claimed and did not close has failed; agent.task_update reopens it.',
    needs: ['agents'],
    input: {
      type: 'object',
      properties: {
        task_id: taskField,
        worker_pool_id: { ...agentFields.pool, description: 'Id of a pool. Default: the first.' },
        worker_agent_id: {
          ...agentFields.pool,
          description: 'A worker, by the id that agent.list_workers shows. Default: one that is idle.',
        },
        allowed_step_ids: {
          ...stepsField,
          minItems: 1,
          description: 'The only steps that it may claim. Default: all of the task.',
        },
        instruction: {
          ...agentFields.task,
          description: 'What it is to do and how, beside what the steps say.',
        },
        context: { type: 'string', maxLength: 100_000, description: 'What it has to know.' },
        allowed_tools: {
          ...agentFields.allowedTools,
          description:
            'Tools beside those that every worker has, by name or pattern, such as code.write_file; it has none that you do not have. Default: those of its pool.',
        },
      },
      required: ['task_id', 'instruction'],
      additionalProperties: false,
    },
    output: {
      ...reportSchema,
      properties: {
        ...reportSchema.properties,
        worker_agent_id: { type: 'string' },
        worker_pool_id: { type: 'string' },
        steps_left: {
          type: 'array',
          description: 'Steps that it claimed and did not close, and how they stand.',
          items: {
            type: 'object',
            properties: { step_id: { type: 'string' }, status: { enum: ['failed', 'ready'] } },
            required: ['step_id', 'status'],
            additionalProperties: false,
          },
        },
      },
    },
    decode: (given) => ({
      task: given.task_id,
      steps: given.allowed_step_ids,
      instruction: given.instruction,
      context: given.context,
      pool: given.worker_pool_id,
      worker: given.worker_agent_id,
      allowedTools: given.allowed_tools,
    }),
    plan: async ({ pool, worker }) => ({
      operations: [{ kind: 'other', resource: `handrail:agent:${worker ?? pool ?? 'worker'}` }],
      planned: null,
    }),
    run: async (order, { agents }) => toOutput(await agents.dispatch(order)),
  })
}

function toOutput(report: WorkerReport): ToolOutput {
  const { worker, pool, left } = report
  const steps = left.map(({ step, state }) => `"${step}" (${state})`).join(', ')
  const note = left.length === 0 ? '' : ` It left steps behind that it had claimed: ${steps}.`
  const { data = null, ...shown } = showEnd(report, note)
  return toolOutput({
    ...shown,
    data: {
      ...(isJsonObject(data) ? data : {}),
      worker_agent_id: worker,
      worker_pool_id: pool,
      ...(left.length > 0 && {
        steps_left: left.map(({ step, state }) => ({ step_id: step, status: state })),
      }),
    },
  })
}
