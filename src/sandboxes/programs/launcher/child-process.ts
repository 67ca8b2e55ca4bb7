import type * as ChildProcess from 'node:child_process'

/** `node:child_process`, loaded with the first program: most calls start none, and loading it costs. */
export function childProcess(): typeof ChildProcess {
  return process.getBuiltinModule('node:child_process')
}
