import type { JsonSchema } from '../../../contract/base/schema.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import type { ToolContext } from '../../../contract/tool/tool.ts'
import { partOf } from '../../state/part-of.ts'
import type { CallScope } from '../../state/scope.ts'
import type { StoredJob } from './stored-job.ts'

/** A piece of the work of a job. */
export interface SegmentWish {
  /** Its name among the parts of the call that started the job. */
  readonly name: string
  readonly run: (context: ToolContext) => unknown
  readonly outputSchema?: () => JsonSchema | undefined
  readonly signal?: AbortSignal
  readonly isLast?: boolean
}

/** Runs a piece of the work of a job: a call of its own on the way of every call, as a part of the one that started the job. */
export function runSegment(
  { tool, input, call, toolCallId }: StoredJob,
  { name, run, outputSchema = () => undefined, signal, isLast = false }: SegmentWish,
  { session }: CallScope,
): Promise<ToolResult> {
  return session.parts.start({
    tool,
    input,
    id: `${toolCallId}.${name}`,
    origin: 'system',
    ...(signal !== undefined && { signal }),
    [partOf]: {
      call,
      part: name,
      inProgram: false,
      seen: undefined,
      held: undefined,
      segment: { run, outputSchema, isLast },
    },
    parks: false,
  })
}
