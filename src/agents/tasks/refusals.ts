import { ToolFailure } from '../../contract/base/errors.ts'

const shown = 5

/** A change of a task that cannot be made. */
export function refusal(reason: string, message: string): ToolFailure {
  return new ToolFailure({ reason, message })
}

/** The first few of these names, in a sentence. */
export function someOf(names: readonly string[]): string {
  const first = names.slice(0, shown).map((name) => `"${name}"`)
  return names.length > shown ? `${first.join(', ')} and others` : first.join(', ')
}
