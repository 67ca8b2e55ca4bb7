import { jsonOption } from '../arguments/caller.ts'
import { aboutNames } from '../arguments/find-named.ts'
import type { Command, CommandGroup, Options } from '../base/command.ts'
import type { ToolsVerb } from './tools/verb.ts'

const savingOptions: Options = {
  yes: { about: 'Does not ask.' },
  as: { takes: 'ACTOR', about: 'Who saves it. Default: the name of the user of this machine.' },
  ...jsonOption,
}

/** `handrail policy` */
export const policy: CommandGroup = {
  summary: 'Checks, tries and saves policies, and suggests rules or takes over those of another agent.',
  verbs: {
    check: {
      usage: '[<policy.json>]',
      summary: 'Says what is wrong with a policy, and which rules meet no tool; by default of your own.',
      options: jsonOption,
      examples: ['handrail policy check', 'handrail policy check stricter.json'],
      takes: 1,
      run: lazily(async () => (await import('./policy/check.ts')).checkVerb),
    },
    test: {
      usage: '<cases.json>',
      summary: 'Says whether calls are decided as a file of cases expects.',
      options: { policy: { takes: 'FILE', about: 'This policy, in place of your own.' }, ...jsonOption },
      examples: ['handrail policy test cases.json --policy stricter.json'],
      needs: 'Name a file of cases.',
      takes: 1,
      run: lazily(async () => (await import('./policy/test.ts')).testVerb),
    },
    shadow: {
      usage: '<policy.json>',
      summary: 'Says which recorded calls another policy would decide otherwise.',
      more: aboutNames.session,
      options: {
        since: { takes: 'TIME', about: 'Those of the last 7d, for example. Default: all.' },
        session: { takes: 'ID', about: 'Those of this session.' },
        tenant: { takes: 'TENANT', about: 'Those of this tenant.' },
        follow: { about: 'Goes on with the calls that come.' },
        ...jsonOption,
      },
      examples: ['handrail policy shadow stricter.json --since 7d'],
      needs: 'Name a policy.',
      takes: 1,
      run: lazily(async () => (await import('./policy/shadow.ts')).shadowVerb),
    },
    suggest: {
      usage: '',
      summary: 'Suggests the narrowest rules for what people said yes to more than once.',
      more: 'Each with what else it would have let through. Nothing is written.',
      options: {
        since: { takes: 'TIME', about: 'Calls of the last 30d, for example. Default: 7d.' },
        tenant: { takes: 'TENANT', about: 'Those of this tenant.' },
        ...jsonOption,
      },
      examples: ['handrail policy suggest', 'handrail policy suggest --since 30d --tenant acme'],
      takes: 0,
      run: lazily(async () => (await import('./policy/suggest.ts')).suggestVerb),
    },
    save: {
      usage: '<policy.json>',
      summary: 'Puts a policy in force, after it showed which calls of the last week it decides otherwise.',
      options: {
        cases: { takes: 'FILE', about: 'Cases that have to come out as they should.' },
        reason: { takes: 'TEXT', about: 'What for; it is kept with the version.' },
        ...savingOptions,
      },
      examples: ['handrail policy save new.json', 'handrail policy save new.json --cases cases.json --yes'],
      needs: 'Name a policy.',
      takes: 1,
      run: lazily(async () => (await import('./policy/save.ts')).saveVerb),
    },
    versions: {
      usage: '[<version>]',
      summary: 'What the policy file said before, who saved it, and what a version changed.',
      options: jsonOption,
      examples: ['handrail policy versions', 'handrail policy versions 3'],
      takes: 1,
      run: lazily(async () => (await import('./policy/save.ts')).versionsVerb),
    },
    restore: {
      usage: '<version>',
      summary: 'Saves a version of before anew, as "save" does.',
      options: savingOptions,
      examples: ['handrail policy restore 3'],
      needs: 'Name a version. "handrail policy versions" lists them.',
      takes: 1,
      run: lazily(async () => (await import('./policy/save.ts')).restoreVerb),
    },
    import: {
      usage: '<settings.json>',
      summary: "Says what another agent's permission rules are here.",
      options: { write: { about: 'Adds them to policy.json.' }, ...jsonOption },
      examples: ['handrail policy import .claude/settings.json'],
      needs: 'Name a file of settings.',
      takes: 1,
      run: lazily(async () => (await import('./policy/import.ts')).importVerb),
    },
  },
}

/** Each verb is loaded only when it is asked for. */
function lazily(load: () => Promise<ToolsVerb>): Command['run'] {
  return async (given) => (await load()).run(given, given.positionals[0])
}
