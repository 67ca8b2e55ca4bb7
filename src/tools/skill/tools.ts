import type { Tool } from '../../contract/base/tool.ts'
import { listSkillsTool } from './list-skills.ts'
import { loadSkillTool } from './load-skill.ts'

/** The built-in tools for skills, in order of their names. */
export function skillTools(): Tool[] {
  return [listSkillsTool(), loadSkillTool()]
}
