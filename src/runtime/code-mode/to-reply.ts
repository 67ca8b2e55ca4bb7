import type { ContentBlock, ToolResult } from '../../contract/base/result.ts'
import type { Json } from '../../contract/base/json.ts'
import type { ProgramReply } from '../../contract/services/isolates.ts'

/** What a program gets of a result: what a model would see of it, as JSON. */
export function toReply({ ok, data, content, error, tool }: ToolResult): ProgramReply {
  if (ok) return { ok: true, value: data === undefined ? toValue(content) : data }
  if (error === undefined) return { ok: false, error: { message: `"${tool}" failed.`, tool } }
  const { code, reason, message, issues, data: facts } = error
  const fields = { message, tool, code, reason }
  const found = issues?.map((issue) => ({ ...issue }))
  return { ok: false, error: { ...fields, ...(found && { issues: found }), ...(facts && { data: facts }) } }
}

/** Text as text; anything else as the blocks that it is. */
function toValue(content: readonly ContentBlock[]): Json {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  if (texts.length === content.length) return texts.join('\n')
  const [only] = content
  if (content.length === 1 && only?.type === 'json') return only.json
  return JSON.parse(JSON.stringify(content))
}
