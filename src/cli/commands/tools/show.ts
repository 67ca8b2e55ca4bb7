import type { Presentation } from '../../../contract/base/call.ts'
import type { PresentedTool, Registered } from '../../../contract/registry.ts'
import type { Runtime } from '../../../contract/runtime.ts'
import { nearestNames } from '../../../kit/text/nearest-names.ts'
import { mcpTools } from '../../../compose/sources/mcp-tools.ts'
import { presentTool } from '../../../registry/catalog/present-tools.ts'
import { readText } from '../../arguments/caller.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { readChoice } from '../../terminal/read-choice.ts'
import { showLine, writeJson, writeText } from '../../base/show-safely.ts'
import { toolPage } from '../../render/tool-page.ts'
import { findPlaces, wireRuntime } from '../../setup/wire.ts'
import type { ToolsVerb } from './verb.ts'

/** Shows one tool, whether or not a session could call it. */
export const showVerb: ToolsVerb = {
  async run(given, name = '') {
    const presentation =
      readChoice<Presentation>(given, 'presentation', ['canonical', 'compatible']) ?? 'canonical'
    const tenant = readText(given, 'tenant') ?? 'local'
    const places = findPlaces(given)
    const upstreams = mcpTools({ path: places.mcp, meet: false })
    const runtime = await wireRuntime(places, undefined, { keep: false, upstreams })
    try {
      const found = find(runtime, name, tenant)
      if (found === undefined) {
        process.stderr.write(`handrail: ${describeUnknown(runtime, name, tenant)}\n`)
        return exitCodes.toolError
      }
      const status = runtime.registry.status(found, tenant)
      const presented = presentTool(found, { presentation, status })
      if (given.options['json'] === true) writeJson(toWire(presented, found))
      else writeText(process.stdout, toolPage({ presented, registered: found, status }))
      return exitCodes.ok
    } finally {
      await runtime.close()
    }
  },
}

function find({ registry }: Runtime, name: string, tenant: string): Registered | undefined {
  const view = registry.view(tenant)
  return view.find(name) ?? view.findCompatible(name)
}

function describeUnknown({ registry }: Runtime, name: string, tenant: string): string {
  const names = registry
    .view(tenant)
    .list()
    .map(({ definition }) => definition.name)
  const nearest = nearestNames(name, names).map((each) => `"${each}"`)
  const advice = nearest.length === 0 ? '"handrail tools" lists them.' : `Did you mean ${nearest.join(', ')}?`
  return showLine(`There is no tool "${name.slice(0, 100)}" here. ${advice}`)
}

function toWire(presented: PresentedTool, { definition, source }: Registered) {
  const { version, permission, sideEffect, safety, limits, capabilities } = definition
  return {
    name: presented.name,
    tool: presented.tool,
    title: presented.title,
    description: presented.description,
    version,
    source,
    permission,
    side_effect: sideEffect,
    safety,
    timeout_ms: limits.timeoutMs ?? null,
    capabilities,
    input_schema: presented.inputSchema,
    output_schema: presented.outputSchema ?? null,
  }
}
