import type { StoredRun, TranscriptNode } from '../../contract/agent-run.ts'
import type { Json } from '../../contract/base/json.ts'
import type { Redactor } from '../../kit/secrets/redact.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { textOf } from '../../doors/base/message-fields.ts'
import { showLine, showSafely } from '../base/show-safely.ts'
import { describeUsage } from './describe-usage.ts'
import { countOf } from './count-of.ts'

/** A run in one line: which, how it stands, what it took. */
export function toRunRow(run: StoredRun): string {
  const { id, startedAt, model, turns, usage, actor, parent } = run
  const at = new Date(startedAt).toISOString()
  return showLine(
    `${id}  ${at}  ${describeState(run)}  ${countOf(turns, 'turn')}, ${describeUsage(usage)}  ${model.modelId}  for ${actor}${parent?.run === undefined ? '' : `  started by ${parent.run}`}`,
  )
}

/** A run with its conversation, with nothing that could drive the terminal, as lines that each end. */
export function toRunPage(run: StoredRun, nodes: readonly TranscriptNode[], redactor: Redactor): string {
  const { id, tenant, actor, session, model, startedAt, turns, usage, error } = run
  const rows: (readonly [name: string, value: string])[] = [
    ['state', describeState(run)],
    ...(error === undefined ? [] : [['error', `${error.code} (${error.reason}): ${error.message}`] as const]),
    ['for', `${actor} of ${tenant}, ${session}`],
    ['model', `${model.modelId} (${model.provider})`],
    ['started', `${new Date(startedAt).toISOString()}${startedBy(run)}`],
    ['took', `${countOf(turns, 'turn')}, ${describeUsage(usage)}`],
  ]
  const lines = [
    id,
    ...rows.map(([name, value]) => `  ${name.padEnd(8)} ${showLine(redactor.text(value))}`),
    ...nodes.flatMap((node) => ['', ...toLines(node, redactor)]),
  ]
  return `${lines.join('\n')}\n`
}

/** Who started an agent, and by which definition. */
function startedBy({ parent, definition }: StoredRun): string {
  if (parent === undefined) return ''
  const by = ` by ${parent.run ?? parent.session}, call ${parent.toolCallId}`
  return definition === undefined ? by : `${by}, as ${definition}`
}

/** How a run stands, in words. */
export function describeState({ state, endReason }: StoredRun): string {
  if (state === 'running') return 'running'
  return endReason ?? 'cut off: its process was ended'
}

function toLines(node: TranscriptNode, redactor: Redactor): string[] {
  const about = `${node.type}  ${new Date(node.at).toISOString()}`
  const mark = (text: string): string[] =>
    showSafely(redactor.text(text))
      .split('\n')
      .map((line) => `  | ${line}`)
  switch (node.type) {
    case 'user':
    case 'messages':
    case 'summary':
      return [about, ...mark(node.text)]
    case 'assistant':
      return [
        `${about}  ${describeUsage(node.usage)}`,
        ...node.content.filter(isSaid).flatMap((part) => mark(toText(part))),
      ]
    case 'instructions':
      return [`${about}  ${showSafely(redactor.text(node.path))}`, ...mark(node.text)]
    case 'tool':
      return [`${about}  ${node.calls.join(', ')}`, ...node.content.flatMap((part) => mark(toText(part)))]
  }
}

/** What a provider only wants back says nothing to a person. */
function isSaid(part: Json): boolean {
  return !isJsonObject(part) || part['type'] !== 'custom'
}

/** A part in the form of the AI SDK; one of another kind as JSON. */
function toText(part: Json): string {
  if (!isJsonObject(part)) return JSON.stringify(part)
  const { type, text, toolName, input, output } = part
  if (type === 'text' && typeof text === 'string') return text
  if (type === 'reasoning' && typeof text === 'string') return `(reasoning) ${text}`
  if (type === 'tool-call')
    return `→ ${textOf(toolName)} ${typeof input === 'string' ? input : JSON.stringify(input)}`
  if (type === 'tool-result' && isJsonObject(output ?? null)) {
    const { value } = output as { [field: string]: Json }
    return `← ${textOf(toolName)}\n${typeof value === 'string' ? value : JSON.stringify(value)}`
  }
  return JSON.stringify(part)
}
