import type { Worker, WorkerPool } from '../../contract/base/child-agents.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { Tool } from '../../contract/base/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControlsInLine } from '../../kit/text/show-controls.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { agentFields } from './fields.ts'

const text = { type: 'string' } as const

/** `agent.list_workers`: the workers that steps of tasks can be given to, and which are idle. */
export function listWorkersTool(): Tool {
  return defineBuiltin({
    name: 'agent.list_workers',
    title: 'List workers',
    description:
      'Lists the pools of workers and their workers: who is idle, and what those do that this session has dispatched.',
    tags: ['readonly'],
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:agent:*', action: 'read' }],
    annotations: { readOnlyHint: true, openWorldHint: false },
    needs: ['agents'],
    input: {
      type: 'object',
      properties: { worker_pool_id: { ...agentFields.pool, description: 'Only this pool. Default: all.' } },
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        pools: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              worker_pool_id: text,
              description: text,
              agent_definition_id: text,
              idle: { type: 'integer' },
              workers: {
                type: 'array',
                items: {
                  type: 'object',
                  properties: {
                    worker_agent_id: text,
                    status: { enum: ['idle', 'busy'] },
                    agent_id: { ...text, description: 'Of its run, if this session has dispatched it.' },
                    task_id: text,
                  },
                  required: ['worker_agent_id', 'status'],
                  additionalProperties: false,
                },
              },
            },
            required: ['worker_pool_id', 'idle', 'workers'],
            additionalProperties: false,
          },
        },
      },
      required: ['pools'],
      additionalProperties: false,
    },
    decode: ({ worker_pool_id }) => worker_pool_id,
    plan: async (pool) => ({
      operations: [{ kind: 'other', resource: `handrail:agent:${pool ?? '*'}` }],
      planned: null,
    }),
    async run(wanted, { agents }) {
      const pools = await agents.pools(wanted)
      const lines = pools.map(describePool)
      return toolOutput({
        content: [{ type: 'text', text: lines.join('\n') }],
        summary: `${pools.length} pools of workers`,
        data: { pools: pools.map(toData) },
      })
    },
  })
}

function countIdle({ workers }: WorkerPool): number {
  return workers.filter(({ state }) => state === 'idle').length
}

function describePool(pool: WorkerPool): string {
  const { id, description = '', workers } = pool
  const lines = workers.map((worker) => `  ${describeWorker(worker)}`)
  return [
    `- ${id}: ${countIdle(pool)} of ${workers.length} idle. ${showControlsInLine(description)}`,
    ...lines,
  ].join('\n')
}

function describeWorker({ id, state, agent, task }: Worker): string {
  return `${id} ${state}${task === undefined ? '' : ` with ${task} (${agent ?? ''})`}`
}

function toData(pool: WorkerPool): JsonObject {
  const { id, description, definition, workers } = pool
  return {
    worker_pool_id: id,
    ...(description !== undefined && { description }),
    ...(definition !== undefined && { agent_definition_id: definition }),
    idle: countIdle(pool),
    workers: workers.map(({ id: worker, state, agent, task }) => ({
      worker_agent_id: worker,
      status: state,
      ...(agent !== undefined && { agent_id: agent }),
      ...(task !== undefined && { task_id: task }),
    })),
  }
}
