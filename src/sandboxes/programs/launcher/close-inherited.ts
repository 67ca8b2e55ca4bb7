import { closeSync, readdirSync, readFileSync } from 'node:fs'

const closeOnExec = 0o2000000

/**
 * Closes what the process that started Handrail left open for it and for all that it starts: a terminal's socket, a user's file. Programs
 * would find it in their sandbox, where it leads outside. Node's own descriptors are marked not to be handed on.
 */
export function closeInherited(): void {
  for (const name of readdirSync('/proc/self/fdinfo')) {
    const descriptor = Number(name)
    if (descriptor > 2 && isHandedOn(descriptor)) closeSync(descriptor)
  }
}

function isHandedOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // The one by which the folder was read is closed by now.
    return false
  }
}
