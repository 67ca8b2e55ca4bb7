import { nearestNames } from '../../kit/nearest-names.ts'
import type { Command } from '../command.ts'
import { UsageError } from '../usage-error.ts'
import type { PolicyVerb } from './policy/verb.ts'

interface VerbEntry {
  /** Options beside those that all verbs take. */
  options: readonly string[]
  /** Loaded only when it is asked for. */
  load(): Promise<PolicyVerb>
}

const verbs: { readonly [verb: string]: VerbEntry } = {
  check: { options: [], load: async () => (await import('./policy/check.ts')).checkVerb },
  test: { options: ['policy'], load: async () => (await import('./policy/test.ts')).testVerb },
  shadow: {
    options: ['tenant', 'session', 'since', 'follow'],
    load: async () => (await import('./policy/shadow.ts')).shadowVerb,
  },
  import: { options: ['write'], load: async () => (await import('./policy/import.ts')).importVerb },
}

/** `handrail policy` */
export const policy: Command = {
  usage:
    'check [policy.json] | test <cases.json> [--policy policy.json] | shadow <policy.json> [--tenant T] [--session S] [--since 7d] [--follow] | import <settings.json> [--write]   [--json]',
  summary:
    'Checks a policy, tries it on cases and on recorded calls, or takes over rules that were written for another agent.',
  options: {
    write: { type: 'boolean' },
    json: { type: 'boolean' },
    policy: { type: 'string' },
    tenant: { type: 'string' },
    session: { type: 'string' },
    since: { type: 'string' },
    follow: { type: 'boolean' },
  },
  takes: 2,
  async run(given) {
    const [name = '', argument] = given.positionals
    const entry = findVerb(name)
    const verb = await entry.load()
    const stray = Object.keys(given.options).find(
      (option) => ![...entry.options, 'json', 'home', 'project', 'help'].includes(option),
    )
    if (stray !== undefined)
      throw new UsageError(
        `"policy ${name}" takes no --${stray}.\nUsage: handrail policy ${name} ${verb.usage}`,
      )
    return verb.run(given, argument)
  },
}

function findVerb(name: string): VerbEntry {
  const entry = Object.hasOwn(verbs, name) ? verbs[name] : undefined
  if (entry !== undefined) return entry
  const [nearest] = name === '' ? [] : nearestNames(name, Object.keys(verbs), 1)
  const what = name === '' ? 'Say what to do.' : `There is no "policy ${name.slice(0, 40)}".`
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
  throw new UsageError(`${what}${hint}\nUsage: handrail policy ${policy.usage}`)
}
