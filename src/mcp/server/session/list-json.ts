import type { PresentedTool } from '../../../contract/registry.ts'
import { renameTools } from '../../../kit/names/rename-tools.ts'
import { toMcpTool } from '../../translate/to-mcp-tool.ts'
import type { WireNames } from '../../translate/wire-names.ts'
import { ReadyJson } from './ready-json.ts'

/** How tools are listed: with the word that each can be a task, or without. */
export type ListForm = 'plain' | 'as_tasks'

/** What each tool says last, in a list of this form. */
const endings = {
  plain: Buffer.from('}'),
  as_tasks: Buffer.from(',"execution":{"taskSupport":"optional"}}'),
} as const satisfies { [form in ListForm]: Buffer }

/** A list of tools as JSON. */
export interface ListJson {
  readonly form: ListForm
  readonly json: ReadyJson
  /** The bytes of each tool before its ending, by part. */
  readonly lengths: readonly (readonly number[])[]
}

/** How many tools stand in one part: some 64 kB. Nothing larger needs to be in memory to make a list. */
const toolsInPart = 50

/** Each part is tools with a `[` or a `,` before each; the last one closes the list. */
export function toListJson(names: WireNames, form: ListForm): ListJson {
  const parts: Buffer[] = []
  const lengths: number[][] = []
  for (let start = 0; start < names.tools.length; start += toolsInPart) {
    const texts = names.tools.slice(start, start + toolsInPart).map((tool) => {
      const wireName = names.wireNameOf(tool.tool) ?? tool.name
      return JSON.stringify(toMcpTool(inWireNames(tool, names), wireName)).slice(0, -1)
    })
    const ending = endings[form].toString()
    parts.push(Buffer.from(`${start === 0 ? '[' : ','}${texts.join(`${ending},`)}${ending}`))
    lengths.push(texts.map((text) => Buffer.byteLength(text)))
  }
  return {
    form,
    json: new ReadyJson([...(parts.length === 0 ? [Buffer.from('[')] : parts), Buffer.from(']')]),
    lengths,
  }
}

/** What a server elsewhere says of its tool stays as it is; our tools name each other. */
function inWireNames(tool: PresentedTool, names: WireNames): PresentedTool {
  const isImported = /^mcp\.[^.]+\./.test(tool.tool)
  if (isImported) return tool
  return { ...tool, description: renameTools(tool.description, (name) => names.wireNameOf(name)) }
}

/** The same list in another form: copied, as writing thousands of tools out again takes ten times as long. */
export function toForm({ form: before, json, lengths }: ListJson, form: ListForm): ListJson {
  const parts = lengths.map((ofPart, index) => {
    const part = json.parts[index] ?? Buffer.alloc(0)
    let end = 0
    const pieces = ofPart.flatMap((length) => {
      const start = end
      // With what stands before the tool.
      end = start + 1 + length + endings[before].length
      return [part.subarray(start, start + 1 + length), endings[form]]
    })
    return Buffer.concat(pieces)
  })
  return { form, json: new ReadyJson([...parts, ...json.parts.slice(lengths.length)]), lengths }
}
