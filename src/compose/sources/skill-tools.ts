import type { ToolSource } from '../../contract/base/tool.ts'
import { skillTools as listSkillTools } from '../../tools/skill/tools.ts'

/** The built-in tools that list skills and load them. The skills are those of the service `skillRegistry`, which `createSkillRegistry` makes. */
export function skillTools(): ToolSource {
  const tools = listSkillTools()
  return { id: 'builtin.skill', kind: 'builtin', list: () => tools }
}
