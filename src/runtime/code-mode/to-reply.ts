import type { ToolResult } from '../../contract/base/result.ts'
import type { Json } from '../../contract/base/json.ts'
import type { ProgramReply } from '../../contract/services/isolates.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { mediaOf } from '../../kit/result/media-of.ts'

/** What a program gets of a result: what a model would see of it, as JSON. */
export function toReply(result: ToolResult): ProgramReply {
  const { ok, data, error, tool } = result
  if (ok) return { ok: true, value: data === undefined ? toValue(result) : data }
  if (error === undefined) return { ok: false, error: { message: `"${tool}" failed.`, tool } }
  const { code, reason, message, issues, data: facts } = error
  const fields = { message, tool, code, reason }
  const found = issues?.map((issue) => ({ ...issue }))
  return { ok: false, error: { ...fields, ...(found && { issues: found }), ...(facts && { data: facts }) } }
}

/** Text as text; anything else as the blocks that it is, media with their summary. */
function toValue(result: ToolResult): Json {
  const { content } = result
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  if (texts.length === content.length) return texts.join('\n')
  const [only] = content
  if (content.length === 1 && only?.type === 'json') return only.json
  const about = mediaOf(result)
  return parseJson(JSON.stringify(content.map((block) => ({ ...about(block), ...block }))))
}
