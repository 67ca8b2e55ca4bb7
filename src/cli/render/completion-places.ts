import type { Command, CommandGroup, Option } from '../base/command.ts'
import { commonOptions } from './help-page.ts'

/** A word that may stand in a place, and what it means. */
export type Word = readonly [word: string, about: string]

/** An option, and what may stand behind it: some words, a file, anything, or nothing. */
export interface PlaceOption {
  readonly name: string
  readonly short: string | undefined
  readonly about: string
  readonly value: readonly string[] | 'file' | 'any' | undefined
}

/** What may stand behind a command, or behind one and its verb. */
export interface Place {
  /** The command and the verb; neither for what may stand first. */
  readonly path: readonly string[]
  readonly words: readonly Word[]
  readonly options: readonly PlaceOption[]
}

/** All that can be completed, as the tables of the help have it. */
export function toPlaces(commands: Readonly<Record<string, Command | CommandGroup>>): Place[] {
  const names = Object.entries(commands).map(([name, { summary }]): Word => [name, summary])
  const more: Word[] = [
    ['help', 'Shows the options and examples of a command.'],
    ['version', 'Shows the version.'],
  ]
  return [
    { path: [], words: [...names, ...more], options: [] },
    { path: ['help'], words: names, options: [] },
    ...Object.entries(commands).flatMap(([name, command]) =>
      'verbs' in command ? toGroup(name, command) : [toPlace([name], command)],
    ),
  ]
}

/** Without a verb the options are those of the verb that is meant then. */
function toGroup(name: string, { verbs, otherwise }: CommandGroup): Place[] {
  const words = Object.entries(verbs).map(([verb, { summary }]): Word => [verb, summary])
  const meant = otherwise === undefined ? undefined : verbs[otherwise]
  return [
    { path: [name], words, options: toOptions(meant?.options ?? {}) },
    ...Object.entries(verbs).map(([verb, command]) => toPlace([name, verb], command)),
  ]
}

function toPlace(path: readonly string[], { usage, options }: Command): Place {
  const [, choices = ''] = /^<([a-z0-9-]+(?:\|[a-z0-9-]+)+)>/.exec(usage) ?? []
  const words = choices === '' ? [] : choices.split('|').map((word): Word => [word, ''])
  return { path, words, options: toOptions(options) }
}

function toOptions(options: Command['options']): PlaceOption[] {
  return Object.entries({ ...options, ...commonOptions }).map(([name, option]) => ({
    name,
    short: option.short,
    about: option.about,
    value: toValue(option),
  }))
}

function toValue({ takes }: Option): PlaceOption['value'] {
  if (takes === undefined) return undefined
  if (/^[a-z0-9-]+(\|[a-z0-9-]+)+$/.test(takes)) return takes.split('|')
  return /^(DIR|FILE)\b/.test(takes) ? 'file' : 'any'
}
