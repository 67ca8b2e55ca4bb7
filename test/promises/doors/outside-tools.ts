import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime, type Runtime, type Tool } from 'handrail'
import type { Place } from '../../support/command-line.ts'
import { makeSource, makeTool } from '../../support/make-tool.ts'

/** What a server that is not ours says of one of its tools. */
export interface OutsideTool {
  name: string
  description: string
  /** Put in the place of what is right. */
  inputSchema?: object
}

/** Where the server has its tools from; a file of the project, so that they change without us. */
export const toolsFile = 'server.json'

/** A host's program: tools of an MCP server beside the store and policy that the command line uses. */
export async function openOutside(place: Pick<Place, 'project' | 'user' | 'store'>): Promise<Runtime> {
  const tools = JSON.parse(readFileSync(join(place.project, toolsFile), 'utf8')) as OutsideTool[]
  return createRuntime({
    project: place.project,
    home: place.user,
    tools: [makeSource('mcp', 'mcp.far', tools.map(toTool))],
    store: { path: place.store },
  })
}

/** A tool that says its name and what it was described as. */
function toTool({ name, description, inputSchema }: OutsideTool): Tool {
  const tool = makeTool(name, { description })
  return {
    ...tool,
    ...(inputSchema !== undefined && {
      definition: { ...tool.definition, inputSchema: inputSchema as Tool['definition']['inputSchema'] },
    }),
    run: () => `${name}: ${description}`,
  }
}
