import type { Command } from '../command.ts'
import { UsageError } from '../usage-error.ts'
import { showLine } from '../show-safely.ts'
import type { ToolsVerb } from './tools/verb.ts'

/** Each verb is loaded only when it is asked for. */
const verbs: Readonly<Record<string, () => Promise<ToolsVerb>>> = {
  status: async () => (await import('./mcp/status.ts')).statusVerb,
  review: async () => (await import('./mcp/review.ts')).reviewVerb,
  login: async () => (await import('./mcp/login.ts')).loginVerb,
  logout: async () => (await import('./mcp/login.ts')).logoutVerb,
}

/** `handrail mcp` */
export const mcp: Command = {
  usage:
    'status [--timeout 20s] [--json] | review [<tool> --approve] [--digest D] [--tenant T] [--timeout 20s] [--json] | login <server> [--tenant T] [--within 5m] [--json] | logout <server> [--tenant T] [--json]',
  summary:
    'Says where the MCP servers of mcp.json stand, which are connected to for that; shows which of their definitions changed, field by field, and approves them; logs a person in at a server, and out.',
  options: {
    json: { type: 'boolean' },
    approve: { type: 'boolean' },
    digest: { type: 'string' },
    tenant: { type: 'string' },
    within: { type: 'string' },
    timeout: { type: 'string' },
  },
  takes: 2,
  async run(given) {
    const [word = 'status', name] = given.positionals
    const load = Object.hasOwn(verbs, word) ? verbs[word] : undefined
    if (load === undefined)
      throw new UsageError(`There is no "mcp ${showLine(word)}".\nUsage: handrail mcp ${mcp.usage}`)
    const verb = await load()
    const known = ['json', 'project', 'home', 'help', ...verb.options]
    const stray = Object.keys(given.options).find((option) => !known.includes(option))
    if (stray !== undefined || (name !== undefined && verb.takes === 0))
      throw new UsageError(
        `"handrail mcp ${word}" takes no ${stray === undefined ? `"${showLine(name ?? '')}"` : `--${stray}`}.\nUsage: handrail mcp ${mcp.usage}`,
      )
    return verb.run(given, name)
  },
}
