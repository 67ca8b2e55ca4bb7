import { readFileSync, readlinkSync } from 'node:fs'

/** Which process: of which namespace, its id, and when it started, so that a later process with the same id is another one. */
export const processMark = /\d+-\d+-\d+/

let own: string | undefined
let space: string | undefined

/** The mark of this process. */
export function ownMark(): string {
  return (own ??= `${namespace()}-${process.pid}-${startedAt(process.pid) ?? 0}`)
}

/** Whether the process with this mark has ended. Nothing is known of one in another namespace. */
export function isOver(mark: string): boolean {
  const [where, pid, started] = mark.split('-')
  if (where !== namespace()) return false
  return process.platform === 'linux' ? String(startedAt(Number(pid))) !== started : !lives(Number(pid))
}

/** Whether the process with this mark runs, as far as this one can know. */
export function isRunning(mark: string): boolean {
  return mark.startsWith(`${namespace()}-`) && !isOver(mark)
}

/** A process stays in its own. */
function namespace(): string {
  return (space ??= process.platform === 'linux' ? readNamespace() : '0')
}

function readNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
}

/** In clock ticks since the system started (proc(5), field 22); undefined if the process does not exist. */
function startedAt(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  } catch {
    return undefined
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
