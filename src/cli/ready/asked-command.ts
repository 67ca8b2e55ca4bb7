import type { JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** A command, as who asks for it would run it. */
export interface AskedCommand {
  /** What a process must have in common with theirs. */
  readonly place: string
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Those of its variables that a process has to be started with. */
  readonly started: Readonly<Record<string, string>>
  readonly umask: number
  /** The terminals that the standard streams are; null for any that is none. */
  readonly terminals: readonly (string | null)[]
}

/** Of what goes over the socket. */
const form = 3

/** What was said, if it is a command. */
export function toCommand({ form: said, ...command }: JsonObject): AskedCommand | undefined {
  return said === form && isCommand(command) ? command : undefined
}

function isCommand(command: object): command is AskedCommand {
  const { place, argv, cwd, env, started, umask, terminals } = command as Partial<
    Record<keyof AskedCommand, unknown>
  >
  return (
    [place, cwd].every(isText) &&
    Array.isArray(argv) &&
    argv.every(isText) &&
    [env, started].every((each) => isPlainObject(each) && Object.values(each).every(isText)) &&
    typeof umask === 'number' &&
    Array.isArray(terminals) &&
    terminals.length === 3 &&
    terminals.every((terminal) => terminal === null || isText(terminal))
  )
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}
