import { homedir } from 'node:os'
import { join } from 'node:path'
import { openCallKeys } from '../../config/call-keys.ts'
import { checkFile, configurationForm } from '../../config/check-file.ts'
import type { OpenAgents } from '../../a2a/client/open-agents.ts'
import type { A2aAgentState, A2aConfiguration } from '../../contract/a2a/agents.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { ToolFeed } from '../../contract/mcp/tool-feed.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'

/** Agents of other domains, and the key that speaks to them. */
export interface A2aAgentsOptions extends A2aConfiguration {
  /** The file of the keys that sign, made if it is not there. Default: `~/.handrail/a2a-keys.json`. */
  keys?: { path: string }
  /** Whether the cards of agents that were never seen are read at once. Default true. */
  meet?: boolean
}

/** The skills of agents of other domains, as tools. */
export interface A2aAgents extends ToolFeed {
  /** Reads the card of each, takes the tools that it has now, and says where each stands. Only while a runtime has it. */
  look(): Promise<readonly A2aAgentState[]>
}

/**
 * The skills of other Handrails as `a2a.<agent>.<tool>`, and other agents of A2A as `a2a.<agent>.ask`. Each call carries a token for nothing but that
 * call. A card is read when its agent is first seen, and then before a call; what changed in it waits for an approval. Throws a SetupError for
 * agents that cannot be.
 */
export function a2aAgents({ keys, meet = true, ...a2a }: A2aAgentsOptions): A2aAgents {
  const { issues } = checkFile({ a2a }, configurationForm, createSchemaChecker())
  if (issues.length > 0) throw new SetupError('invalid_options', 'These agents cannot be used:', issues)
  const path = keys?.path ?? join(homedir(), '.handrail', 'a2a-keys.json')
  let opened: OpenAgents | undefined
  return {
    id: 'a2a',
    look: async () => (await opened?.look()) ?? [],
    async open(host) {
      if (Object.keys(a2a.agents).length === 0) return { settled: async () => {}, close: async () => {} }
      const { openAgents } = await import('../../a2a/client/open-agents.ts')
      const findKey = async () => {
        const key = openCallKeys(path).current()
        host.hide('a2a keys', [key.d])
        return key
      }
      opened = await openAgents(a2a, { host, findKey, meet })
      return opened
    },
  }
}
