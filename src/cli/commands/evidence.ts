import { jsonOption } from '../arguments/caller.ts'
import type { Command, CommandGroup, Options } from '../base/command.ts'
import { aboutNames } from '../arguments/find-named.ts'
import { findPlaces } from '../setup/wire.ts'
import type { EvidenceVerb } from './evidence/verb.ts'

const common: Options = { tenant: { takes: 'TENANT', about: 'Whose records. Default: all.' }, ...jsonOption }
const session: Options = {
  session: { takes: 'ID', about: 'Of this session alone; "last" is the one of the last call.' },
}
const needsCall = 'Name a call. "handrail evidence list" shows their ids.'

/** `handrail evidence` */
export const evidence: CommandGroup = {
  summary: 'Shows what was done, and proves that no record was changed, removed or reordered.',
  ofNames: 'show',
  verbs: {
    list: {
      usage: '',
      summary: 'The latest calls, newest first, each with its tenant and actor where these differ.',
      options: {
        notes: { about: 'Notes in place of calls: what happened to tools, consents, policy and keys.' },
        limit: { takes: 'N', about: 'How many. Default: 20.' },
        follow: {
          short: 'f',
          about:
            'Goes on: calls of every process on the store, as they end, the oldest first. Ctrl-C ends it. With --json a line each.',
        },
        since: { takes: 'TIME', about: 'Those that began in the last 15m, 12h or 7d, for example.' },
        until: { takes: 'TIME', about: 'Those that began longer ago than that.' },
        tool: { takes: 'TOOL', about: 'Calls of this tool; "*" stands for any characters.' },
        actor: { takes: 'ACTOR', about: 'Calls of this actor.' },
        outcome: { takes: 'OUTCOME', about: 'ok, failed, denied, aborted, unknown or running.' },
        ...session,
        ...common,
      },
      examples: [
        'handrail evidence list --limit 5',
        "handrail evidence list --since 1d --outcome denied --tool 'code.*'",
        'handrail evidence list --since 2d --until 1d',
        "handrail evidence list --follow --tool 'code.*'",
        'handrail evidence list --notes',
      ],
      takes: 0,
      run: lazily(async () => (await import('./evidence/list.ts')).list),
    },
    show: {
      usage: '<call>',
      summary: 'All records of one call, with its input, plan and result.',
      more: aboutNames.call,
      options: common,
      examples: ['handrail evidence show last', 'handrail evidence show 3tm81v'],
      needs: needsCall,
      takes: 1,
      run: lazily(async () => (await import('./evidence/show.ts')).show),
    },
    verify: {
      usage: '',
      summary: 'Holds every record against its chain and signatures.',
      options: { file: { takes: 'FILE', about: 'An export, in place of the store.' }, ...common },
      examples: ['handrail evidence verify', 'handrail evidence verify --file audit.jsonl'],
      takes: 0,
      run: lazily(async () => (await import('./evidence/verify.ts')).verify),
    },
    replay: {
      usage: '<run | session>',
      summary: 'Says whether a run would go again as it went, and if not, where it would part.',
      more: `A run of an agent is replayed with all agents that it started. No model, person or tool is asked, and nothing is written. ${aboutNames.session}`,
      options: {
        policy: { takes: 'FILE', about: 'A policy in place of the one in force, such as that of then.' },
        system: { takes: 'FILE', about: 'A text that would say how the agent works.' },
        ...common,
      },
      examples: [
        'handrail evidence replay last',
        'handrail evidence replay 4f2k --policy stricter.json --json',
      ],
      needs:
        'Name a run or a session. "handrail evidence replay last" takes the run, or else the session, of the last call.',
      takes: 1,
      run: lazily(async () => (await import('./evidence/replay.ts')).replay),
    },
    export: {
      usage: '',
      summary: 'Writes records as JSON lines, with all that proves them.',
      options: {
        out: { takes: 'FILE', about: 'A new file. Default: standard output.' },
        ...session,
        ...common,
      },
      examples: [
        'handrail evidence export --out audit.jsonl',
        'handrail evidence export --session last --out session.jsonl',
      ],
      takes: 0,
      run: lazily(async () => (await import('./evidence/export.ts')).exportVerb),
    },
    import: {
      usage: '<file>',
      summary: 'Takes an export into the store, if it holds and its keys are known.',
      options: { trust: { takes: 'KEY,…', about: 'Keys that are trusted from now on.' }, ...common },
      examples: ['handrail evidence import audit.jsonl'],
      needs: 'Name a file that "handrail evidence export" made.',
      takes: 1,
      run: lazily(async () => (await import('./evidence/import.ts')).importVerb),
    },
    resolve: {
      usage: '<call>',
      summary: 'Says what became of a call that was cut off.',
      more: aboutNames.call,
      options: {
        outcome: { takes: 'happened|not-happened', about: 'What you found out.' },
        result: {
          takes: 'JSON',
          about: 'What it returned, for its idempotency key. It is held to the tool.',
        },
        reason: { takes: 'TEXT', about: 'How you know; it is kept.' },
        ...common,
      },
      examples: ['handrail evidence resolve last --outcome happened --reason "the mail arrived"'],
      needs: needsCall,
      takes: 1,
      run: lazily(async () => (await import('./evidence/resolve.ts')).resolve),
    },
    prune: {
      usage: '',
      summary: 'Removes old inputs and results, and keeps what proves them.',
      options: { 'older-than': { takes: 'TIME', about: 'From which age on, such as 30d.' }, ...common },
      examples: ['handrail evidence prune --older-than 30d'],
      takes: 0,
      run: lazily(async () => (await import('./evidence/prune.ts')).prune),
    },
    'rebuild-archive': {
      usage: '',
      summary: 'Writes the logs of runs again from the store.',
      options: { ...session, ...common },
      examples: ['handrail evidence rebuild-archive --session last'],
      takes: 0,
      run: lazily(async () => (await import('./evidence/rebuild-archive.ts')).rebuild),
    },
    'rotate-key': {
      usage: '',
      summary: 'Makes a new signing key.',
      options: common,
      examples: ['handrail evidence rotate-key'],
      takes: 0,
      run: lazily(async () => (await import('./evidence/rotate-key.ts')).rotate),
    },
  },
}

/** Each verb is loaded only when it is asked for. */
function lazily(load: () => Promise<EvidenceVerb>): Command['run'] {
  return async (given) => {
    const act = await load()
    return act({ given, places: findPlaces(given), what: given.positionals[0] ?? '' })
  }
}
