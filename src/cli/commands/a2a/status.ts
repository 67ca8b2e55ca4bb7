import { readDomains } from '../../setup/open-domains.ts'
import type { A2aAgentState } from '../../../contract/a2a/agents.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine, writeJson, writeText } from '../../base/show-safely.ts'
import { findPlaces, wireRuntime } from '../../setup/wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** Reads the card of every agent. Ends with 1 if any of them is of no use. */
export const statusVerb: ToolsVerb = {
  async run(given) {
    const places = findPlaces(given)
    const [agents] = readDomains(places)
    const runtime = await wireRuntime(places, undefined, agents && { upstreams: agents, onError: () => {} })
    try {
      const states = (await agents?.look()) ?? []
      if (given.options['json'] === true) writeJson(states)
      else if (states.length === 0)
        writeText(process.stdout, 'There is no agent of another domain. Name them as "a2a" in config.json.\n')
      else for (const state of states) writeText(process.stdout, toLines(state))
      return states.some(({ fault }) => fault !== undefined) ? exitCodes.toolError : exitCodes.ok
    } finally {
      await runtime.close()
    }
  },
}

function toLines({ agent, card, tools, fault }: A2aAgentState): string {
  const state = fault === undefined ? `${tools.length} tools` : 'failed'
  const why = fault === undefined ? '' : `  ${showLine(fault)}\n`
  return `${showLine(`${agent}  ${state}  ${card}`)}\n${why}${tools.map((tool) => `  ${showLine(tool)}\n`).join('')}`
}
