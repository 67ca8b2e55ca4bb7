import { jsonOption } from '../arguments/caller.ts'
import type { Command, CommandGroup } from '../base/command.ts'
import type { ToolsVerb } from './tools/verb.ts'

/** `handrail a2a` */
export const a2a: CommandGroup = {
  summary: 'Agents of other domains: where they stand, and the keys that sign calls to them.',
  otherwise: 'status',
  verbs: {
    status: {
      usage: '',
      summary: 'Reads the card of every agent of config.json, and says which tools it has.',
      options: jsonOption,
      examples: ['handrail a2a status'],
      takes: 0,
      run: lazily(async () => (await import('./a2a/status.ts')).statusVerb),
    },
    keys: {
      usage: '',
      summary: 'Shows the public keys that other domains have to know, the one that signs first.',
      options: {
        add: { about: 'Makes a further key, which other domains can learn of before it signs.' },
        use: { takes: 'KID', about: 'Has this key sign from now on.' },
        remove: { takes: 'KID', about: 'Forgets a key that does not sign.' },
      },
      examples: ['handrail a2a keys', 'handrail a2a keys --add'],
      takes: 0,
      run: lazily(async () => (await import('./a2a/keys.ts')).keysVerb),
    },
  },
}

/** Each verb is loaded only when it is asked for. */
function lazily(load: () => Promise<ToolsVerb>): Command['run'] {
  return async (given) => (await load()).run(given, given.positionals[0])
}
