import type { CommandLine } from '../../base/command.ts'

/** What a verb of `handrail tools`, `mcp` or `policy` does. */
export interface ToolsVerb {
  /** Returns the exit code. `name` is what follows the verb, undefined if nothing does. */
  run(given: CommandLine, name: string | undefined): Promise<number>
}
