import { lstatSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { KeptProcesses } from './keep-processes.ts'

/** What who asks for a command says, and how they are heard. */
interface Asking {
  readonly socket: Socket
  /** A file that only who may write to the home folder can have made. */
  readonly proof: string
  readonly processes: KeptProcesses
}

/**
 * Hands a command over to a process that is ready for it, with the socket of who asked. They show first that they may write to the home folder: who can
 * decides what Handrail does anyhow, and what runs in a sandbox, whose user and files are the same, can not. Without a process they go on alone.
 */
export async function handOver(said: JsonObject, { socket, proof, processes }: Asking): Promise<void> {
  const command = toCommand(said)
  if (!isOwn(proof)) return void socket.destroy()
  rmSync(proof)
  if (command === undefined) return void socket.destroy()
  const ready = await processes.find(command)
  if (ready === undefined) socket.destroy()
  else ready.run(command, socket)
}

/** A command, as who asks for it would run it. */
export interface AskedCommand {
  /** What a process must have in common with theirs. */
  readonly place: string
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly umask: number
  /** The terminals that the standard streams are; null for any that is none. */
  readonly terminals: readonly (string | null)[]
}

const form = 2

function toCommand({ form: said, ...command }: JsonObject): AskedCommand | undefined {
  return said === form && isCommand(command) ? command : undefined
}

function isCommand(command: object): command is AskedCommand {
  const { place, argv, cwd, env, umask, terminals } = command as Partial<Record<keyof AskedCommand, unknown>>
  return (
    [place, cwd].every(isText) &&
    Array.isArray(argv) &&
    argv.every(isText) &&
    isPlainObject(env) &&
    Object.values(env).every(isText) &&
    typeof umask === 'number' &&
    Array.isArray(terminals) &&
    terminals.length === 3 &&
    terminals.every((terminal) => terminal === null || isText(terminal))
  )
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

/** Whether this file was made by this user. */
function isOwn(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat !== undefined && stat.isFile() && stat.uid === process.getuid?.()
}
