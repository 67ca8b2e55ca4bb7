import { callerOptions } from '../arguments/caller.ts'
import type { Command, CommandGroup, Options } from '../base/command.ts'
import { hookAgents } from '../hook/agents.ts'

const names = Object.keys(hookAgents)

const answerOptions: Options = {
  'fail-open': {
    about:
      'Leaves what Handrail cannot decide about to the agent, and records that. Default: that is denied.',
  },
  ...callerOptions,
}

const settingsOptions: Options = {
  yes: { about: 'Does not ask.' },
}

/** `handrail hook` */
export const hook: CommandGroup = {
  summary: 'Decides about the calls of agents that run their own tools, and records them.',
  verbs: {
    ...Object.fromEntries(names.map((name) => [name, answerCommand(name)])),
    install: {
      usage: `<${names.join('|')}>`,
      summary: 'Puts the hook into the settings of an agent. Shows the change and asks first.',
      more: 'They are those of the person, or with --project those of a project. What else they say stays as it is.',
      options: { ...settingsOptions, ...answerOptions },
      examples: ['handrail hook install claude-code', 'handrail hook install gemini-cli --project . --yes'],
      needs: `Name the agent: ${names.join(', ')}.`,
      takes: 1,
      run: async (given) => (await import('../hook/change-settings.ts')).installHook(given),
    },
    uninstall: {
      usage: `<${names.join('|')}>`,
      summary: 'Takes the hook out of the settings of an agent, and nothing else. Asks first.',
      options: settingsOptions,
      examples: ['handrail hook uninstall claude-code'],
      needs: `Name the agent: ${names.join(', ')}.`,
      takes: 1,
      run: async (given) => (await import('../hook/change-settings.ts')).uninstallHook(given),
    },
  },
}

function answerCommand(name: string): Command {
  return {
    usage: '',
    summary: `Answers a hook of ${name}: a message on standard input, the answer on standard output.`,
    options: {
      event: { takes: 'EVENT', about: 'Of which event the message is, if it does not say so itself.' },
      ...answerOptions,
    },
    examples: [`handrail hook ${name} < message.json`],
    takes: 0,
    async run(given) {
      const load = hookAgents[name]
      if (load === undefined) throw new Error(`There is no agent "${name}".`)
      const [agent, { runHook }] = await Promise.all([load(), import('../hook/run-hook.ts')])
      return runHook(agent, given)
    },
  }
}
