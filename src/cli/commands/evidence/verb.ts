import type { CommandLine } from '../../base/command.ts'
import type { Places } from '../../setup/wire.ts'

/** What a verb of `handrail evidence` is given. */
export interface Asked {
  given: CommandLine
  places: Places
  /** What stands behind the verb; empty if the verb takes nothing. */
  what: string
}

/** Does one verb. Returns the exit code. */
export type EvidenceVerb = (asked: Asked) => Promise<number>
