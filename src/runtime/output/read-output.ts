import type { Issue } from '../../contract/base/json.ts'
import type { ContentBlock, ToolOutput } from '../../contract/base/result.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { isIssue, toJson } from '../../kit/json/to-json.ts'
import { isToolOutput, toolOutput } from '../../kit/result/tool-output.ts'
import { findMisfits } from '../state/find-misfits.ts'

/** What a tool returned, in its full form: a copy that shares nothing with it, and about how many characters it takes. */
export interface ReadOutput {
  readonly output: ToolOutput
  /** Data that a block of JSON shows counts once. */
  readonly size: number
}

/** Why what a tool returned cannot go back: JSON cannot carry it, or it is a `ToolOutput` of another form. */
export interface Malformed {
  readonly reason: 'result_not_serialisable' | 'invalid_output'
  readonly issues: readonly Issue[]
}

/** The full form of whatever a tool returned. Never throws, whatever its getters do. */
export function readOutput(returned: unknown): ReadOutput | Malformed {
  if (returned === undefined) return { output: toolOutput({}), size: 0 }
  if (typeof returned === 'string')
    return { output: toolOutput({ content: returned, data: returned }), size: returned.length + 2 }
  const parts = takeApart(returned)
  if (parts !== undefined) return 'issue' in parts ? notJson(parts.issue) : readParts(parts)
  const copied = toJson(returned)
  if (isIssue(copied)) return notJson(copied)
  const { json: data, size } = copied
  return { output: toolOutput({ content: [{ type: 'json', json: data }], data }), size }
}

type Parts = { readonly [field in keyof ToolOutput]?: unknown }

/** The fields of a full form, each looked at once; undefined for any other value. */
function takeApart(returned: unknown): Parts | { issue: Issue } | undefined {
  try {
    return isToolOutput(returned) ? { ...returned } : undefined
  } catch (error) {
    const message = `It cannot be read: ${messageOf(error)}`
    return { issue: { pointer: '', code: 'not_serialisable', message } }
  }
}

function readParts({ content, data, summary, artifacts, error, metadata }: Parts): ReadOutput | Malformed {
  const copied = data === undefined ? undefined : toJson(data)
  if (copied !== undefined && isIssue(copied)) return notJson(below('/data', copied))
  const showing = new Set<number>()
  const others = data === undefined ? content : leaveOut(content, data, showing)
  const rest = toJson({
    content: others,
    ...(summary !== undefined && { summary }),
    ...(artifacts !== undefined && { artifacts }),
    ...(error !== undefined && { error }),
    ...(metadata !== undefined && { metadata }),
  })
  if (isIssue(rest)) return notJson(rest)
  const issues = findMisfits(rest.json)
  if (issues.length > 0) return { reason: 'invalid_output', issues }
  // The fields have just been found to be what they should be.
  const fields = rest.json as unknown as ToolOutput
  if (copied === undefined) return { output: toolOutput(fields), size: rest.size }
  const shown = fields.content.map((block, index): ContentBlock =>
    showing.has(index) ? { type: 'json', json: copied.json } : block,
  )
  return {
    output: toolOutput({ ...fields, content: shown, data: copied.json }),
    size: rest.size + copied.size,
  }
}

/** More blocks than this are copied as they are. */
const mostBlocks = 100_000

/** Data that a block shows is copied and counted once. What cannot be looked at is left to the copy, which tells why. */
function leaveOut(content: unknown, data: unknown, showing: Set<number>): unknown {
  try {
    if (!Array.isArray(content)) return content
    const { length } = content
    if (length > mostBlocks) return content
    const others: unknown[] = []
    for (let index = 0; index < length; index++) {
      const block: unknown = content[index]
      const isShowing = isPlainObject(block) && block['type'] === 'json' && block['json'] === data
      if (isShowing) showing.add(index)
      others.push(isShowing ? { type: 'json', json: null } : block)
    }
    return others
  } catch {
    showing.clear()
    return content
  }
}

function notJson(issue: Issue): Malformed {
  return { reason: 'result_not_serialisable', issues: [issue] }
}

function below(pointer: string, issue: Issue): Issue {
  return { ...issue, pointer: `${pointer}${issue.pointer}` }
}
