import { join } from 'node:path'
import { codeTools, createRuntime } from 'handrail'
import { createSkillRegistry, type AgentModel } from 'handrail/agents'
import { skillTools } from 'handrail/tools'

/** A process whose agent loads a skill, and whose model then never answers. It says when the skill is loaded. */
const [folder = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project: folder,
  home: folder,
  tools: [codeTools(), skillTools()],
  services: { skillRegistry: createSkillRegistry({ home: folder }) },
  sandbox: 'host',
  store: { path: join(folder, 'store.db') },
})
let asked = 0
const model: AgentModel = {
  specificationVersion: 'v4',
  provider: 'mock',
  modelId: 'mock',
  async doStream() {
    if (++asked === 1)
      return {
        stream: ReadableStream.from([
          {
            type: 'tool-call',
            toolCallId: '1',
            toolName: 'internal__load_skill',
            input: JSON.stringify({ name: 'commit' }),
          },
          {
            type: 'finish',
            finishReason: { unified: 'tool-calls' },
            usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
          },
        ]),
      }
    process.stdout.write('loaded\n')
    return { stream: new ReadableStream() }
  },
} as AgentModel
await runtime.run({ model, prompt: 'Go.' })
setInterval(() => undefined, 60_000)
