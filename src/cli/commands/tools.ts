import type { Face } from '../../contract/call.ts'
import { roles, type Role } from '../../contract/principal.ts'
import type { FacedTool } from '../../contract/registry.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Command } from '../command.ts'
import { findPlaces, wireRuntime } from '../wire.ts'
import { readChoice } from '../read-choice.ts'

/** `handrail tools` */
export const tools: Command = {
  usage: '[--json] [--role R] [--face canonical|familiar]',
  summary: 'Lists the effective set of tools, in stable order.',
  options: { json: { type: 'boolean' }, role: { type: 'string' }, face: { type: 'string' } },
  takes: 0,
  async run(given) {
    const role = readChoice<Role>(given, 'role', roles) ?? 'main'
    const face = readChoice<Face>(given, 'face', ['canonical', 'familiar']) ?? 'canonical'
    const runtime = await wireRuntime(findPlaces(given), undefined, { keep: false })
    try {
      const listed = runtime.session({ role }).tools({ face })
      process.stdout.write(
        given.options['json'] === true
          ? `${JSON.stringify(listed.map(toWireTool), null, 2)}\n`
          : toTable(listed),
      )
      return exitCodes.ok
    } finally {
      await runtime.close()
    }
  },
}

function toWireTool(tool: FacedTool) {
  return {
    name: tool.name,
    tool: tool.tool,
    title: tool.title,
    description: tool.description,
    input_schema: tool.inputSchema,
    ...(tool.outputSchema !== undefined && { output_schema: tool.outputSchema }),
    ...(tool.annotations !== undefined && { annotations: tool.annotations }),
  }
}

function toTable(listed: readonly FacedTool[]): string {
  const width = Math.max(0, ...listed.map((tool) => tool.name.length))
  const rows = listed.map((tool) => `${tool.name.padEnd(width)}  ${firstSentence(tool.description)}`)
  return `${[...rows, `${listed.length} tools`].join('\n')}\n`
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s/)[0] ?? text
}
