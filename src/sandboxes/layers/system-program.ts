import { findProgram } from '../programs/find-program.ts'
import { noLayer } from './layer-failure.ts'

/** Where the programs of the system lie. What a user could put elsewhere must not run as root. */
export const systemPath = '/usr/bin:/bin:/usr/sbin:/sbin'

/** The path of a program of the system. Fails with `SANDBOX.UNAVAILABLE` if it is not installed. */
export function requireProgram(name: string): string {
  const program = findProgram(name, { cwd: '/', path: systemPath })
  if (program?.executable === true) return program.path
  throw noLayer(`the program "${name}" is not installed`)
}
