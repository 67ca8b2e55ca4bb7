import type { ToolResult } from '../../contract/base/result.ts'
import { resultText } from '../../kit/result/to-wire-result.ts'
import { advisePerson } from '../base/advise-person.ts'
import { writeText } from '../base/show-safely.ts'

/** Prints what a call gave, but for what of it was shown already. A refusal goes to the standard error output, in words for a person. */
export function printResult(result: ToolResult, shown: string): void {
  const stream = result.ok ? process.stdout : process.stderr
  const text = withoutShown(toText(result), shown)
  if (shown !== '' && !shown.endsWith('\n')) writeText(process.stdout, '\n')
  if (text.trim() !== '') writeText(stream, text.endsWith('\n') ? text : `${text}\n`)
  else if (result.ok && shown === '') writeText(stream, `${result.summary}\n`)
  const { deprecated } = result.metadata
  if (deprecated !== undefined)
    writeText(process.stderr, `handrail: "${result.tool}" is deprecated. ${deprecated}\n`)
  const advice = advisePerson(result)
  if (advice !== undefined) writeText(process.stderr, `handrail: ${advice}\n`)
}

/** What models are told to do is not for the person: about a no, they said it themselves. */
function toText(result: ToolResult): string {
  const { error } = result
  const text = resultText(result)
  if (error?.reason === 'tool_not_available')
    return text.replace('List the tools to see what there is.', '"handrail tools" lists them.')
  if (error?.code !== 'POLICY.APPROVAL_DENIED' || error.reason !== 'denied') return text
  const left =
    error.data?.['ran'] === true
      ? 'What it had done was dropped, and its output: every file is as it was.'
      : 'Nothing was done.'
  return `${error.code} (denied): "${result.tool}" was denied. ${left}`
}

/** What was shown as it came may stand anywhere in the result, as one piece; where it does not, all of the result is new. */
function withoutShown(text: string, shown: string): string {
  const piece = shown.trimEnd()
  const at = piece === '' ? -1 : text.indexOf(piece)
  return at === -1 ? text : `${text.slice(0, at)}${text.slice(at + piece.length)}`.trimEnd()
}
