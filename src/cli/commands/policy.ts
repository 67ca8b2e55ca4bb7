import type { Command } from '../command.ts'
import { UsageError } from '../usage-error.ts'
import type { PolicyVerb } from './policy/verb.ts'

/** Each verb is loaded only when it is asked for. */
const verbs: Readonly<Record<string, () => Promise<PolicyVerb>>> = {
  check: async () => (await import('./policy/check.ts')).checkVerb,
  test: async () => (await import('./policy/test.ts')).testVerb,
  shadow: async () => (await import('./policy/shadow.ts')).shadowVerb,
  import: async () => (await import('./policy/import.ts')).importVerb,
}

/** `handrail policy` */
export const policy: Command = {
  usage:
    'check [policy.json] | test <cases.json> | shadow <policy.json> [--session S] [--since 7d] | import <settings.json> [--write]   [--json]',
  summary:
    'Checks a policy, tries it on cases and on recorded calls, or takes over rules that were written for another agent.',
  options: {
    write: { type: 'boolean' },
    json: { type: 'boolean' },
    session: { type: 'string' },
    since: { type: 'string' },
  },
  takes: 2,
  async run(given) {
    const [name, argument] = given.positionals
    const load = name === undefined || !Object.hasOwn(verbs, name) ? undefined : verbs[name]
    if (load === undefined)
      throw new UsageError(
        `${name === undefined ? 'Say what to do' : `There is no "policy ${name}"`}.\nUsage: handrail policy ${policy.usage}`,
      )
    return (await load()).run(given, argument)
  },
}
