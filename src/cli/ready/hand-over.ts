import { lstatSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { JsonObject } from '../../contract/base/json.ts'
import { toCommand } from './asked-command.ts'
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

/** Whether this file was made by this user. */
function isOwn(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat !== undefined && stat.isFile() && stat.uid === process.getuid?.()
}
