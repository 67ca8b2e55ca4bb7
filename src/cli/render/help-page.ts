import type { Command, CommandGroup, Options } from '../base/command.ts'
import { table, wrap, type Row } from '../base/wrap.ts'

/** Options of every command. */
export const commonOptions: Options = {
  project: {
    takes: 'DIR',
    about: 'The project folder. Default: HANDRAIL_PROJECT, else the current folder.',
  },
  home: {
    takes: 'DIR',
    about: 'Where your configuration and the evidence are. Default: HANDRAIL_HOME, else ~/.handrail.',
  },
  help: { short: 'h', about: 'Shows this.' },
}

/** All commands, a line each. */
export function overviewPage(
  commands: Readonly<Record<string, { readonly summary: string }>>,
  width: number,
): string {
  return page([
    ['handrail – the tool runtime for agents'],
    ['Usage: handrail <command> [options]'],
    table(
      Object.entries(commands).map(([name, { summary }]) => [name, summary]),
      width,
    ),
    wrap('"handrail help <command>" shows its options and examples, "handrail version" the version.', width),
    [
      'Every command takes:',
      ...table(
        Object.entries(commonOptions).map(([name, option]) => [optionName(name, option), option.about]),
        width,
      ),
    ],
    wrap(
      'Exit codes: 0 ok, 1 tool error, 2 bad usage or configuration, 3 denied, 4 waits for a person, 5 turns or budget used up, 130 ended by Ctrl-C.',
      width,
    ),
  ])
}

/** One command, an option a line. */
export function commandPage(name: string, command: Command, width: number): string {
  const { usage, summary, more, options, examples = [] } = command
  const all = { ...options, ...commonOptions }
  return page([
    wrap(`handrail ${name} ${usage}`.trimEnd(), width, '    '),
    wrap(summary, width),
    ...(more === undefined ? [] : [wrap(more, width)]),
    [
      'Options:',
      ...table(
        Object.entries(all).map(([option, about]) => [optionName(option, about), about.about]),
        width,
      ),
    ],
    ...(examples.length === 0 ? [] : [['Examples:', ...examples.map((example) => `  ${example}`)]]),
  ])
}

/** What a command with verbs can do, a verb a line. */
export function groupPage(name: string, { summary, verbs, otherwise }: CommandGroup, width: number): string {
  const rows = Object.entries(verbs).map(([verb, command]): Row => [
    `${verb} ${command.usage}`.trimEnd(),
    command.summary,
  ])
  return page([
    wrap(summary, width),
    [`Usage: handrail ${name} …`, ...table(rows, width)],
    wrap(
      `"handrail help ${name} <verb>" shows its options and examples.${otherwise === undefined ? '' : ` Without a verb: ${otherwise}.`}`,
      width,
    ),
  ])
}

function optionName(name: string, { takes, short }: Options[string]): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`
}

function page(blocks: readonly (readonly string[])[]): string {
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`
}
