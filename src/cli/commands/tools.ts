import type { Command } from '../command.ts'
import { showLine } from '../show-safely.ts'
import { UsageError } from '../usage-error.ts'
import type { ToolsVerb } from './tools/verb.ts'

/** Each verb is loaded only when it is asked for. */
const verbs: Readonly<Record<string, () => Promise<ToolsVerb>>> = {
  list: async () => (await import('./tools/list.ts')).listVerb,
  enable: async () => (await import('./tools/change-state.ts')).changeVerb('enabled'),
  pause: async () => (await import('./tools/change-state.ts')).changeVerb('paused'),
  deprecate: async () => (await import('./tools/change-state.ts')).changeVerb('deprecated'),
  check: async () => (await import('./tools/check.ts')).checkVerb,
  approve: async () => (await import('./tools/approve.ts')).approveVerb,
}

/** `handrail tools` */
export const tools: Command = {
  usage:
    '[--json] [--role R] [--face canonical|familiar] [--tenant T] [--tag T] [--group G] [--keyword W] [--capability C] [--safety S] [--side-effect E] [--state S]' +
    ' | enable|pause|deprecate <name> [--tenant T] [--reason R] [--removed] | approve [<name>] [--tenant T] [--digest D] | check [file…]',
  summary:
    'Lists the effective set of tools, in stable order; says where a tool stands; approves definitions that changed; checks files of tools.',
  options: {
    json: { type: 'boolean' },
    role: { type: 'string' },
    face: { type: 'string' },
    tenant: { type: 'string' },
    tag: { type: 'string' },
    group: { type: 'string' },
    keyword: { type: 'string' },
    capability: { type: 'string' },
    safety: { type: 'string' },
    'side-effect': { type: 'string' },
    state: { type: 'string' },
    reason: { type: 'string' },
    removed: { type: 'boolean' },
    digest: { type: 'string' },
  },
  takes: Infinity,
  async run(given) {
    const [word = 'list', name] = given.positionals
    const load = Object.hasOwn(verbs, word) ? verbs[word] : undefined
    if (load === undefined)
      throw new UsageError(`There is no "tools ${word}".\nUsage: handrail tools ${tools.usage}`)
    const verb = await load()
    const known = ['json', 'project', 'home', 'help', ...verb.options]
    const stray = Object.keys(given.options).find((option) => !known.includes(option))
    if (stray !== undefined)
      throw new UsageError(
        `"handrail tools ${word}" takes no --${stray}.\nUsage: handrail tools ${tools.usage}`,
      )
    const extra = given.positionals[1 + (verb.takes ?? 1)]
    if (extra !== undefined)
      throw new UsageError(
        `"${showLine(extra)}" is one argument too many.\nUsage: handrail tools ${tools.usage}`,
      )
    return verb.run(given, name)
  },
}
