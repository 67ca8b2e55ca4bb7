import type { TranscriptNode } from '../../contract/agent-run.ts'
import { fieldsOf, textOf } from '../../doors/base/message-fields.ts'

/** The text of an answer. */
export function answerText({ content }: TranscriptNode & { type: 'assistant' }): string {
  return content
    .map(fieldsOf)
    .map(({ type, text }) => (type === 'text' ? textOf(text) : ''))
    .join('')
}
