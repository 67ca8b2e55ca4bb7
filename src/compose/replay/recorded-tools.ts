import type { Plan } from '../../contract/tool/plan.ts'
import type { PlanMode } from '../../contract/services/plan-mode.ts'
import type { SkillOrigin, Skills } from '../../contract/services/skill.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import type { Tool, ToolDefinition, ToolSource } from '../../contract/tool/tool.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { isBuiltin, stubFor } from '../../kit/builtin-tools.ts'

/** Stands in for what tools do. Either may throw a `ToolFailure`, as a tool may. */
export interface RecordingHead {
  plan(tool: string, input: unknown): Plan
  run(tool: string, input: unknown): ToolOutput
}

/** These tools with their own definitions, whose calls are planned and run by the recording: nothing of theirs runs but the check of the input. */
export function toRecordedTools(
  tools: readonly (Tool | ToolSource)[],
  head: RecordingHead,
): readonly (Tool | ToolSource)[] {
  return tools.map((given) => {
    if (!('list' in given)) return toRecordedTool(given, head)
    const { id, kind, recalled, tenants, place } = given
    return {
      id,
      kind,
      ...(recalled !== undefined && { recalled }),
      ...(tenants !== undefined && { tenants }),
      ...(place !== undefined && { place }),
      list: () => given.list().map((tool) => toRecordedTool(tool, head)),
    }
  })
}

function toRecordedTool(tool: Tool, head: RecordingHead): Tool {
  const { definition, compatible, unavailable } = tool
  const { name } = definition
  // The pipeline hands on what `decode` returns, which here is the checked input itself.
  return stubFor(tool, {
    definition,
    ...(compatible !== undefined && { compatible }),
    ...(unavailable !== undefined && { unavailable }),
    decode(input) {
      tool.decode?.(input)
      return input
    },
    plan: (input) => head.plan(name, input),
    async run(input, { planMode, skills }) {
      const output = head.run(name, input)
      if (planMode !== undefined && isBuiltin(tool)) await moveMode(planMode, definition)
      if (skills !== undefined && isBuiltin(tool)) await followAgain(skills, output)
      return output
    },
  })
}

/** A skill that a call loaded narrows what comes after it again. */
async function followAgain(skills: Skills, { data }: ToolOutput): Promise<void> {
  if (!isJsonObject(data)) return
  const { name, origin, digest, folder, narrowing } = data
  if (typeof name !== 'string' || typeof digest !== 'string' || !isJsonObject(narrowing)) return
  await skills.follow({
    name,
    origin: origin as SkillOrigin,
    digest,
    narrowing,
    ...(typeof folder === 'string' && { copy: folder }),
  })
}

/** What a call did to the mode of its session it does again: later calls stand on it, and nothing of it leaves memory. */
async function moveMode(planMode: PlanMode, { consent }: ToolDefinition): Promise<void> {
  const leaves = consent.personOnly === true
  if (leaves && planMode.reason === 'entered') await planMode.leave()
  if (!leaves && planMode.reason === undefined) await planMode.enter()
}
