import type { CommandLine } from '../base/command.ts'
import { UsageError } from '../base/usage-error.ts'

/** The value of an option that takes one of a few words; undefined if it is not given. */
export function readChoice<Choice extends string>(
  { options }: CommandLine,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = options[name]
  if (value === undefined) return undefined
  const choice = choices.find((each) => each === value)
  if (choice === undefined)
    throw new UsageError(`--${name} is "${String(value)}"; it can be ${choices.join(', ')}.`)
  return choice
}
