import { roles } from '../../contract/base/principal.ts'
import { capabilityNames, toolStates } from '../../contract/registry.ts'
import { forModelOption, presentationOption, jsonOption } from '../arguments/caller.ts'
import type { Command, CommandGroup, Options } from '../base/command.ts'
import type { ToolsVerb } from './tools/verb.ts'

const state: Options = {
  tenant: { takes: 'TENANT', about: 'For this tenant alone. Default: for all.' },
  reason: { takes: 'TEXT', about: 'Why; its callers are told.' },
  ...jsonOption,
}
const needsTool = 'Name the tool. "handrail tools" lists them.'

/** `handrail tools` */
export const tools: CommandGroup = {
  summary: 'Lists the tools, shows one, and says where one stands.',
  otherwise: 'list',
  ofNames: 'show',
  verbs: {
    list: {
      usage: '',
      summary: 'What a session could call, in stable order.',
      options: {
        role: { takes: 'ROLE', about: `As it has them: ${roles.join(', ')}. Default: main.` },
        ...presentationOption,
        ...forModelOption,
        tenant: { takes: 'TENANT', about: 'Whose. Default: local.' },
        search: { takes: 'WORDS', about: 'The 20 that fit these words best, the best first.' },
        keyword: { takes: 'WORD', about: 'Those whose name or description has it.' },
        group: { takes: 'GROUP', about: 'Those whose names begin so, such as code.' },
        tag: { takes: 'TAG,…', about: 'Those that have any of these tags.' },
        capability: { takes: 'NAME', about: `Those that may reach it: ${capabilityNames.join(', ')}.` },
        safety: { takes: 'low|medium|high', about: 'Those of this safety level.' },
        'side-effect': { takes: 'EFFECT', about: 'Those with this side effect, such as read or write.' },
        state: { takes: 'STATE', about: `Those that stand so, callable or not: ${toolStates.join(', ')}.` },
        ...jsonOption,
      },
      examples: ['handrail tools', 'handrail tools --search "read a file"', 'handrail tools --state paused'],
      takes: 0,
      run: lazily(async () => (await import('./tools/list.ts')).listVerb),
    },
    show: {
      usage: '<name>',
      summary: 'One tool: its fields, what it may do, and a call to paste.',
      options: {
        ...presentationOption,
        tenant: { takes: 'TENANT', about: 'Whose. Default: local.' },
        ...jsonOption,
      },
      examples: ['handrail tools show code.read_file'],
      needs: needsTool,
      takes: 1,
      run: lazily(async () => (await import('./tools/show.ts')).showVerb),
    },
    enable: {
      usage: '<name>',
      summary: 'Lets a tool be called again.',
      options: state,
      examples: ['handrail tools enable code.run_command'],
      needs: needsTool,
      takes: 1,
      run: lazily(async () => (await import('./tools/change-state.ts')).changeVerb('enabled')),
    },
    pause: {
      usage: '<name>',
      summary: 'Lets no call of a tool through, from the next one on, in every process.',
      options: state,
      examples: ["handrail tools pause 'mcp.github.merge' --reason 'under review'"],
      needs: needsTool,
      takes: 1,
      run: lazily(async () => (await import('./tools/change-state.ts')).changeVerb('paused')),
    },
    deprecate: {
      usage: '<name>',
      summary: 'Says with each call that the tool goes.',
      options: { ...state, removed: { about: 'It is gone: no call is let through.' } },
      examples: ["handrail tools deprecate shop.pay --reason 'use shop.refund'"],
      needs: needsTool,
      takes: 1,
      run: lazily(async () => (await import('./tools/change-state.ts')).changeVerb('deprecated')),
    },
    approve: {
      usage: '[<name>]',
      summary: 'Shows the definitions that changed at their source; with a name, lets that one be used.',
      options: {
        digest: { takes: 'DIGEST', about: 'Only if it is this very definition.' },
        tenant: { takes: 'TENANT', about: 'Whose. Default: those of all.' },
        ...jsonOption,
      },
      examples: ['handrail tools approve', 'handrail tools approve mcp.github.get_issue'],
      takes: 1,
      run: lazily(async () => (await import('./tools/approve.ts')).approveVerb),
    },
    check: {
      usage: '[<file> …]',
      summary: 'Says what is wrong with tool files; without any, with those of your folder of tools.',
      options: jsonOption,
      examples: ['handrail tools check', 'handrail tools check tools/date.json'],
      takes: Infinity,
      run: lazily(async () => (await import('./tools/check.ts')).checkVerb),
    },
  },
}

/** Each verb is loaded only when it is asked for. */
function lazily(load: () => Promise<ToolsVerb>): Command['run'] {
  return async (given) => (await load()).run(given, given.positionals[0])
}
