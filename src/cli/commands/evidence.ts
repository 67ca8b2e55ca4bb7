import { nearestNames } from '../../kit/nearest-names.ts'
import type { Command, CommandLine } from '../command.ts'
import { UsageError } from '../usage-error.ts'
import { findPlaces } from '../wire.ts'
import type { EvidenceVerb } from './evidence/verb.ts'

interface VerbEntry {
  /** What follows the verb, as help shows it. */
  usage: string
  /** What the verb must be given, and where to find it. */
  what?: string
  /** Options beside those that all verbs take. */
  options: readonly string[]
  /** Loaded only when it is asked for. */
  load(): Promise<EvidenceVerb>
}

const callId = 'Name a call. "handrail evidence list" shows their ids.'

const verbs: { readonly [verb: string]: VerbEntry } = {
  list: {
    usage: '[--notes] [--limit N] [--session S]',
    options: ['notes', 'limit', 'session'],
    load: async () => (await import('./evidence/list.ts')).list,
  },
  show: {
    usage: '<call>',
    what: callId,
    options: [],
    load: async () => (await import('./evidence/show.ts')).show,
  },
  verify: {
    usage: '[--file F]',
    options: ['file'],
    load: async () => (await import('./evidence/verify.ts')).verify,
  },
  replay: {
    usage: '<session>',
    what: 'Name a session. "handrail evidence list --json" shows their ids.',
    options: [],
    load: async () => (await import('./evidence/replay.ts')).replay,
  },
  export: {
    usage: '[--session S] [--out F]',
    options: ['session', 'out'],
    load: async () => (await import('./evidence/export.ts')).exportVerb,
  },
  import: {
    usage: '<file> [--trust KEY]',
    what: 'Name a file that "handrail evidence export" made.',
    options: ['trust'],
    load: async () => (await import('./evidence/import.ts')).importVerb,
  },
  resolve: {
    usage: '<call> --outcome happened|not-happened [--result JSON] [--reason R]',
    what: callId,
    options: ['outcome', 'result', 'reason'],
    load: async () => (await import('./evidence/resolve.ts')).resolve,
  },
  prune: {
    usage: '--older-than 30d',
    options: ['older-than'],
    load: async () => (await import('./evidence/prune.ts')).prune,
  },
  'rebuild-archive': {
    usage: '[--session S]',
    options: ['session'],
    load: async () => (await import('./evidence/rebuild-archive.ts')).rebuild,
  },
  'rotate-key': {
    usage: '',
    options: [],
    load: async () => (await import('./evidence/rotate-key.ts')).rotate,
  },
}

const verbUsages = Object.entries(verbs).map(([verb, { usage }]) => `${verb} ${usage}`.trimEnd())

/** `handrail evidence` */
export const evidence: Command = {
  usage: `${verbUsages.join(' | ')}   [--tenant T] [--json]`,
  summary:
    'Shows what was done, proves that no record was changed, removed or reordered, and says whether a run would go again as it went.',
  options: {
    json: { type: 'boolean' },
    notes: { type: 'boolean' },
    trust: { type: 'string' },
    tenant: { type: 'string' },
    limit: { type: 'string' },
    session: { type: 'string' },
    file: { type: 'string' },
    out: { type: 'string' },
    outcome: { type: 'string' },
    result: { type: 'string' },
    reason: { type: 'string' },
    'older-than': { type: 'string' },
  },
  takes: 2,
  async run(given) {
    const [verb = '', what] = given.positionals
    const entry = findVerb(verb)
    checkArguments(verb, entry, given)
    const act = await entry.load()
    return act({ given, places: findPlaces(given), what: what ?? '' })
  },
}

function findVerb(verb: string): VerbEntry {
  const entry = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (entry !== undefined) return entry
  const [nearest] = verb === '' ? [] : nearestNames(verb, Object.keys(verbs), 1)
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
  throw new UsageError(
    `${verb === '' ? 'Say what to do' : `There is no "evidence ${verb.slice(0, 40)}"`}.${hint}\nUsage:\n  handrail evidence ${verbUsages.join('\n  handrail evidence ')}`,
  )
}

function checkArguments(verb: string, { usage, what, options }: VerbEntry, given: CommandLine): void {
  const [, argument] = given.positionals
  const help = `\nUsage: handrail evidence ${`${verb} ${usage}`.trimEnd()}`
  if (what !== undefined && argument === undefined) throw new UsageError(what + help)
  if (what === undefined && argument !== undefined)
    throw new UsageError(`"evidence ${verb}" takes no further argument; it was given "${argument}".${help}`)
  const stray = Object.keys(given.options).find(
    (name) => ![...options, 'json', 'tenant', 'home', 'project', 'help'].includes(name),
  )
  if (stray !== undefined) throw new UsageError(`"evidence ${verb}" takes no --${stray}.${help}`)
}
