import type { RunEvent } from '../../contract/agent-run.ts'
import { mapTexts, type Redactor } from '../../kit/secrets/redact.ts'
import { toWireResult } from '../../kit/result/to-wire-result.ts'
import { shorten } from '../../kit/text/shorten.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import { showJson, showLine, writeText } from '../base/show-safely.ts'
import { createWordRedactor } from './redact-words.ts'

/** How a run is shown. */
export interface RunView {
  /** For programs: each event as a line of JSON. */
  readonly isJson: boolean
  /** Whether standard output is for the last answer as JSON; what the model writes goes to standard error then. */
  readonly hasOutput: boolean
  readonly redactor: Redactor
}

/** Returns what shows the events of a run: the words of the model on standard output, all else on standard error. Secrets are redacted. */
export function showRun(view: RunView): (event: RunEvent) => void {
  return view.isJson ? createLines(view.redactor) : createPage(view)
}

type Words = Extract<RunEvent, { type: 'text' | 'reasoning' }>

function createLines(redactor: Redactor): (event: RunEvent) => void {
  const words = createWordRedactor(redactor)
  let last: Words['type'] = 'text'
  const write = (value: unknown): void => void process.stdout.write(`${showJson(value, 0)}\n`)
  const tell = (delta: string): void => {
    if (delta !== '') write({ type: last, delta })
  }
  return (event) => {
    const isWords = event.type === 'text' || event.type === 'reasoning'
    if (!isWords || event.type !== last) tell(words.end())
    if (isWords) {
      last = event.type
      tell(words.push(event.delta))
    } else {
      const plain = event.type === 'call_ended' ? { ...event, result: toWireResult(event.result) } : event
      write(mapTexts(plain, (text) => redactor.text(text)))
    }
  }
}

function createPage({ hasOutput, redactor }: RunView): (event: RunEvent) => void {
  const stream = hasOutput ? process.stderr : process.stdout
  const words = createWordRedactor(redactor)
  const inputs = new Map<string, string>()
  let isOpen = false
  const write = (text: string): void => {
    if (text === '') return
    writeText(stream, text)
    isOpen = !text.endsWith('\n')
  }
  const endLine = (): void => {
    write(words.end())
    if (isOpen) write('\n')
  }
  const line = (text: string): void => {
    endLine()
    process.stderr.write(`${showLine(redactor.text(text))}\n`)
  }
  return (event) => {
    if (event.type === 'text') write(words.push(event.delta))
    else if (event.type === 'call') inputs.set(event.id, event.input)
    else if (event.type === 'call_ended') line(describeCall(event, inputs.get(event.id) ?? ''))
    else if (event.type === 'approval_waiting') line(describeWaiting(event))
    else if (event.type === 'messages')
      for (const { team, from } of event.messages)
        line(`  A message of "${from}" of the team "${team}" came.`)
    else if (event.type === 'compacted') line('  The conversation filled the window, and was summarised.')
    else if (event.type !== 'reasoning') endLine()
  }
}

const longestInput = 100

/** `  ✓ code.read_file {"path":"a.txt"}  12 ms` */
function describeCall({ result }: Extract<RunEvent, { type: 'call_ended' }>, input: string): string {
  const { ok, outcome, tool, error, metadata } = result
  const how = error === undefined ? outcome : `${outcome}: ${error.code} (${error.reason})`
  const shown = shorten(input.replaceAll(/\s+/g, ' '), longestInput)
  return `  ${ok ? '✓' : '✗'} ${tool} ${shown}${ok ? '' : `  ${how}`}  ${showDuration(metadata.durationMs)}`
}

function describeWaiting({ approval }: Extract<RunEvent, { type: 'approval_waiting' }>): string {
  const { id, request } = approval
  return `  ? ${request.tool} waits for a person: ${request.preview.title}  (handrail approvals show ${id})`
}
