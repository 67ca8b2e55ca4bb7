import type { Presentation } from '../../../contract/base/call.ts'
import { roles } from '../../../contract/base/principal.ts'
import {
  capabilityNames,
  toolStates,
  type PresentedTool,
  type ToolQuery,
  type ToolStatus,
} from '../../../contract/registry.ts'
import type { Runtime } from '../../../contract/runtime.ts'
import { mcpTools, type McpTools } from '../../../compose/sources/mcp-tools.ts'
import { presentTool } from '../../../registry/catalog/present-tools.ts'
import { createToolIndex } from '../../../registry/search/create-tool-index.ts'
import { readForModel, readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { countOf } from '../../render/count-of.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { readChoice } from '../../terminal/read-choice.ts'
import { showJson, showLine } from '../../base/show-safely.ts'
import { findPlaces, wireRuntime } from '../../setup/wire.ts'
import type { ToolsVerb } from './verb.ts'

const mostFound = 20

interface Listed {
  presented: PresentedTool
  status: ToolStatus
}

/** Lists what a session could call; with `--state`, whatever stands there. */
export const listVerb: ToolsVerb = {
  async run(given) {
    const query = readQuery(given)
    const presentation =
      readChoice<Presentation>(given, 'presentation', ['canonical', 'compatible']) ?? 'canonical'
    const role = readChoice(given, 'role', roles) ?? 'main'
    const places = findPlaces(given)
    const upstreams = mcpTools({ path: places.mcp, meet: false })
    const runtime = await wireRuntime(places, undefined, { keep: false, upstreams })
    try {
      const { tenant } = query
      const model = readForModel(given)
      const session = runtime.session({
        role,
        ...(tenant !== undefined && { tenant }),
        ...(model !== undefined && { model }),
      })
      const callable = new Set(session.tools({ shared: true, all: true }).map(({ tool }) => tool))
      const words = readText(given, 'search')
      const every = find(runtime, query, presentation).filter(
        ({ presented }) => query.state !== undefined || callable.has(presented.tool),
      )
      const listed = words === undefined ? every : takeBest(every, words)
      process.stdout.write(
        given.options['json'] === true
          ? `${showJson(listed.map(toWireTool))}\n`
          : `${toTable(listed)}${describeUnmet(upstreams)}`,
      )
      return exitCodes.ok
    } finally {
      await runtime.close()
    }
  },
}

function readQuery(given: CommandLine): ToolQuery {
  const tenant = readText(given, 'tenant')
  const group = readText(given, 'group')
  const keyword = readText(given, 'keyword')
  const tags = readText(given, 'tag')?.split(',')
  const capability = readChoice(given, 'capability', capabilityNames)
  const safety = readChoice(given, 'safety', ['low', 'medium', 'high'])
  const effects = ['none', 'read', 'write', 'network', 'filesystem', 'browser', 'process'] as const
  const sideEffect = readChoice(given, 'side-effect', effects)
  const state = readChoice(given, 'state', toolStates)
  return {
    ...(tenant !== undefined && { tenant }),
    ...(group !== undefined && { group }),
    ...(keyword !== undefined && { keyword }),
    ...(tags !== undefined && { tags }),
    ...(capability !== undefined && { capability }),
    ...(safety !== undefined && { safety }),
    ...(sideEffect !== undefined && { sideEffect }),
    ...(state !== undefined && { state }),
  }
}

function find({ registry }: Runtime, query: ToolQuery, presentation: Presentation): Listed[] {
  const view = registry.view(query.tenant ?? 'local')
  return registry.discover(query).flatMap(({ name, status }) => {
    const registered = view.find(name)
    return registered === undefined
      ? []
      : [{ presented: presentTool(registered, { presentation, status }), status }]
  })
}

/** In the order in which a search of a model would find them. */
function takeBest(listed: readonly Listed[], words: string): Listed[] {
  const index = createToolIndex(listed, ({ presented }) => ({ ...presented, name: presented.tool }))
  return [...index.search(words)].slice(0, mostFound)
}

function toWireTool({ presented, status }: Listed) {
  return {
    name: presented.name,
    tool: presented.tool,
    title: presented.title,
    description: presented.description,
    input_schema: presented.inputSchema,
    ...(presented.outputSchema !== undefined && { output_schema: presented.outputSchema }),
    ...(presented.annotations !== undefined && { annotations: presented.annotations }),
    ...(status.state !== 'enabled' && { state: status.state }),
  }
}

function toTable(listed: readonly Listed[]): string {
  const width = Math.max(0, ...listed.map(({ presented }) => presented.name.length))
  const rows = listed.map(({ presented, status }) => {
    const mark = status.state === 'enabled' ? '' : `(${status.state}) `
    const [text = '', advice] = presented.description.split('\nDeprecated: ')
    const more = advice === undefined ? '' : ` Deprecated: ${advice}`
    return `${presented.name.padEnd(width)}  ${mark}${firstSentence(text)}${more}`
  })
  return `${[...rows, countOf(listed.length, 'tool')].join('\n')}\n`
}

/** What servers have is known once they were connected to. */
function describeUnmet(servers: McpTools): string {
  const unmet = servers.describe().servers.filter(({ isKnown }) => !isKnown)
  if (unmet.length === 0) return ''
  const names = unmet.map(({ server }) => `"${showLine(server)}"`).join(', ')
  return `never met: ${names} ("handrail mcp status" connects to MCP servers)\n`
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s/)[0] ?? text
}
