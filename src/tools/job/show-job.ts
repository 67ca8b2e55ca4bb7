import type { Job } from '../../contract/services/job.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import { showControlsInLine } from '../../kit/text/show-controls.ts'

export const idField = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  description: 'Id of a job, as the call that started it gave it.',
} as const

/** What is told of a job. */
export const jobSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    kind: { type: 'string', enum: ['command', 'agent', 'tool'] },
    command: { type: 'string' },
    task: { type: 'string', description: 'Of an agent or a tool: what it is to do.' },
    state: {
      type: 'string',
      enum: ['running', 'exit', 'completed', 'timeout', 'stopped', 'failed', 'interrupted'],
      description: 'What it does, or how it ended.',
    },
    started_at: { type: 'string' },
    ended_at: { type: 'string' },
    exit_code: { type: ['integer', 'null'] },
    signal: { type: ['string', 'null'] },
    reason: { type: 'string', description: 'Why it was stopped or failed.' },
    notes: {
      type: 'array',
      items: { type: 'string' },
      description: 'What is to be known of places that were kept from it.',
    },
    bytes: { type: 'integer', description: 'All that it wrote or said.' },
    survivors: { type: 'array', items: { type: 'integer' }, description: 'Processes that may still run.' },
  },
  required: ['id', 'kind', 'state', 'started_at', 'bytes'],
  additionalProperties: false,
} as const

export function jobData({ id, kind, title, startedAt, bytes, end }: Job): JsonObject {
  return {
    id,
    kind,
    [kind === 'command' ? 'command' : 'task']: title,
    state: end?.how ?? 'running',
    started_at: new Date(startedAt).toISOString(),
    bytes,
    ...(end !== undefined && {
      ended_at: new Date(end.at).toISOString(),
      ...(kind === 'command' && {
        exit_code: end.exitCode,
        signal: end.signal,
        survivors: [...end.survivors],
      }),
      ...(end.reason !== undefined && { reason: end.reason }),
      ...(end.notes !== undefined && { notes: [...end.notes] }),
    }),
  }
}

/** A job in one line. What is to be known of it beside stands in its notes. */
export function jobLine({ id, kind, title, startedAt, bytes, end }: Job): string {
  const line = `${id}  ${kind}  ${describeState(end)}  ${bytes} bytes  since ${new Date(startedAt).toISOString()}  ${title}`
  return showControlsInLine(line)
}

function describeState(end: Job['end']): string {
  if (end === undefined) return 'running'
  const { how, exitCode, signal, reason, survivors } = end
  const left = survivors.length === 0 ? '' : `; these processes may still run: ${survivors.join(', ')}`
  if (how === 'exit')
    return `${exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${exitCode}`}${left}`
  if (how === 'completed') return 'completed'
  if (how === 'timeout') return `stopped at its time limit${left}`
  return `${how}: ${reason ?? 'no reason given'}${left}`
}
