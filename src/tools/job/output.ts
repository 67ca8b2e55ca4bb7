import type { Job, JobOutput } from '../../contract/base/job.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import type { Tool } from '../../contract/base/tool.ts'
import { markUntrusted } from '../../kit/text/mark-untrusted.ts'
import { showOutput } from '../../kit/text/show-output.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { noteOfOutput } from '../../kit/whole-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { idField, jobData, jobLine, jobSchema } from './show-job.ts'

/** Given at a time. */
const pageBytes = 24 * 1024
const maxWaitMs = 300_000

/** `job.output`: what a job has written or said, from an offset on. */
export function outputTool(): Tool {
  return defineBuiltin({
    name: 'job.output',
    title: 'Read output of job',
    description:
      'Returns what a background job has put out so far, 24 KiB at a time: pass next_offset as offset to go on. Of a command, whole lines of stdout and stderr as they came; of long output the first and last 128 KiB stay at hand, and all of it is an artifact once the command has ended. Of an agent, what it said, answer by answer, its report last. With wait_ms it waits so long at most for the job to end.',
    tags: ['job', 'readonly'],
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:job:*', action: 'read' }],
    limits: { timeoutMs: maxWaitMs + 30_000 },
    annotations: { readOnlyHint: true, openWorldHint: false },
    needs: ['jobs'],
    input: {
      type: 'object',
      properties: {
        id: idField,
        offset: { type: 'integer', minimum: 0, default: 0, description: 'In bytes of the whole output.' },
        wait_ms: { type: 'integer', minimum: 0, maximum: maxWaitMs, default: 0 },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        job: jobSchema,
        text: { type: 'string' },
        offset: {
          type: 'integer',
          description: 'Where the text begins: later than asked where that part is not at hand.',
        },
        next_offset: { type: 'integer' },
      },
      required: ['job', 'text', 'offset', 'next_offset'],
      additionalProperties: false,
    },
    compatible: {
      name: 'TaskOutput',
      description:
        'Returns what a background command wrote or a background agent said so far, 24 KiB at a time: to go on, pass the offset that the result names. Waits for its end, at most timeout milliseconds, unless block is false. Of a command, whole lines of stdout and stderr as they came; of long output the first and last 128 KiB stay at hand, and all of it is an artifact once the command has ended.',
      inputSchema: {
        type: 'object',
        properties: {
          task_id: idField,
          block: { type: 'boolean', description: 'Wait for its end. Default: true.' },
          timeout: {
            type: 'integer',
            minimum: 0,
            maximum: 600_000,
            description: 'Milliseconds to wait. Default: 30000.',
          },
          offset: { type: 'integer', minimum: 0, description: 'In bytes of the whole output.' },
        },
        required: ['task_id'],
        additionalProperties: false,
      },
      toCanonical: ({ task_id, block, timeout, offset }) => ({
        id: task_id ?? '',
        wait_ms: block === false ? 0 : Math.min(typeof timeout === 'number' ? timeout : 30_000, maxWaitMs),
        ...(offset !== undefined && { offset }),
      }),
    },
    decode: (input) => ({ id: input.id, offset: input.offset, waitMs: input.wait_ms }),
    plan: async ({ id }) => ({
      operations: [{ kind: 'other', resource: `handrail:job:${id}` }],
      planned: id,
    }),
    async run({ id, offset, waitMs }, { jobs, signal }) {
      if (waitMs > 0) await jobs.wait(id, waitMs, signal)
      // Looked at first: what is read then is all, where it has ended.
      const job = jobs.find(id)
      return toOutput(job, jobs.read(id, { offset, maxBytes: pageBytes }), offset)
    },
  })
}

function toOutput(job: Job, { text, offset, nextOffset }: JobOutput, asked: number): ToolOutput {
  const artifact = job.end?.artifact
  const lines = [`[${jobLine(job)}]`]
  if (offset > asked) lines.push(`[${offset - asked} bytes left out here]`)
  const shown = text === '' ? '[nothing new]' : showOutput(text).trimEnd()
  lines.push(
    job.kind === 'agent' && text !== '' ? markUntrusted(shown, `agent ${job.id}`, 'another agent') : shown,
  )
  lines.push(...(job.end?.notes ?? []).map((note) => `[${note}]`))
  if (nextOffset < job.bytes) lines.push(`[more from offset ${nextOffset}]`)
  return toolOutput({
    content: [
      { type: 'text', text: lines.join('\n') },
      ...(artifact === undefined
        ? []
        : [{ type: 'artifact_ref' as const, artifact, note: noteOfOutput(artifact) }]),
    ],
    ...(artifact !== undefined && { artifacts: [artifact] }),
    summary: `${job.id}: ${nextOffset - offset} bytes`,
    data: { job: jobData(job), text, offset, next_offset: nextOffset },
  })
}
