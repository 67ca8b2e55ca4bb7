import type { Tool } from '../../contract/base/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { jobData, jobLine, jobSchema } from './show-job.ts'

/** `job.list`: the jobs of the session. */
export function listTool(): Tool {
  return defineBuiltin({
    name: 'job.list',
    title: 'List jobs',
    description:
      'Lists what this session started in the background, commands and agents: what runs, and what ended last. An agent that was interrupted goes on with the run that started it.',
    tags: ['job', 'readonly'],
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:job:*', action: 'read' }],
    annotations: { readOnlyHint: true, openWorldHint: false },
    needs: ['jobs'],
    input: { type: 'object', properties: {}, additionalProperties: false },
    output: {
      type: 'object',
      properties: { jobs: { type: 'array', items: jobSchema } },
      required: ['jobs'],
      additionalProperties: false,
    },
    decode: () => undefined,
    plan: async () => ({ operations: [], planned: null }),
    async run(_, context) {
      const jobs = context.jobs.list()
      const running = jobs.filter(({ end }) => end === undefined).length
      return toolOutput({
        content: [
          { type: 'text', text: jobs.length === 0 ? 'There are no jobs.' : jobs.map(jobLine).join('\n') },
        ],
        summary: `${jobs.length} jobs, ${running} running`,
        data: { jobs: jobs.map(jobData) },
      })
    },
  })
}
