import type { ToolResult } from '../../contract/base/result.ts'
import { showLine } from './show-safely.ts'

const adviceOf: { readonly [reason: string]: (tool: string) => string } = {
  consent_missing: () => '"handrail consent list" shows those that stand',
  deprecated: (tool) => `"handrail tools enable ${tool}" lets it be called again`,
  invalid_input: (tool) => `"handrail tools show ${tool}" names the fields`,
  no_callback: () => 'a person can say yes at a terminal, or beforehand with --approve once',
  paused: (tool) => `"handrail tools enable ${tool}" lets it be called again`,
}

/** What a person at the command line can type about a refusal: messages speak to models. Undefined if the message says it all. */
export function advisePerson({ error, tool }: ToolResult): string | undefined {
  if (error === undefined || !Object.hasOwn(adviceOf, error.reason)) return undefined
  return adviceOf[error.reason]?.(showLine(tool))
}
