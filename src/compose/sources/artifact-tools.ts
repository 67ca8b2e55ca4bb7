import type { ToolSource } from '../../contract/tool/tool.ts'
import { artifactTools as listArtifactTools } from '../../tools/artifact/tools.ts'

/** The built-in tool that reads what earlier calls left as artifacts. MCP clients read them as resources through it. */
export function artifactTools(): ToolSource {
  const tools = listArtifactTools()
  return { id: 'builtin.artifact', kind: 'builtin', list: () => tools }
}
