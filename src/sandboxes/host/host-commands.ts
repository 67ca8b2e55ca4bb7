import { ToolFailure } from '../../contract/base/errors.ts'
import type { CommandOutcome, Commands } from '../../contract/services/sandbox.ts'
import { prepareOwn } from '../places/own-folders.ts'
import { allowProgram } from '../programs/allow-program.ts'
import { outsideRoots, wrongKind } from '../files/file-failure.ts'
import { findProgram, type FoundProgram } from '../programs/find-program.ts'
import type { PathHandle } from '../files/path-handle.ts'
import { locate } from '../files/locate.ts'
import { requireWriting, type Reach } from '../files/reach.ts'
import { commandNotFound } from '../programs/run-program.ts'
import { runTree } from '../programs/run-tree.ts'
import { toAbsolutePath } from '../files/to-absolute-path.ts'
import { kindOf } from '../files/to-file-stat.ts'

type Command = Parameters<Commands['run']>[0]

/** Programs that the profile of a call allows. They run as this process's user: nothing isolates them from the machine. */
export function createHostCommands(reach: Reach): Commands {
  return {
    hosts: reach.profile.hosts,
    isolated: false,
    async which(argv0, cwd) {
      const program = programOf(reach, argv0, cwd)
      return program?.executable === true ? program.path : undefined
    },
    run: (command) => reach.track(runCommand(reach, command)),
  }
}

async function runCommand(reach: Reach, command: Command): Promise<CommandOutcome> {
  const program = prepareProgram(reach, command)
  prepareOwn(reach.own)
  using cwd = locateDirectory(reach, command.cwd)
  return await runTree({
    ...command,
    executable: program.path,
    cwd: cwd.self,
    env: { ...command.env, ...reach.env },
    graceMs: reach.limits.graceMs,
    onCpuMs: reach.onCpuMs,
    launcher: reach.launcher,
    signals: [command.signal, ...reach.signals()],
  })
}

/** The program of a command. Fails if there is none, or where the call may not start it. */
export function prepareProgram(
  reach: Reach,
  { executable, cwd }: Pick<Command, 'executable' | 'cwd'>,
): FoundProgram {
  requireWriting(reach, 'run programs')
  const program = programOf(reach, executable, cwd)
  if (program === undefined) throw commandNotFound(executable)
  allowProgram(reach, program.path)
  if (!program.executable) throw notExecutable(executable)
  return program
}

/** The program that a name means in a working directory. */
export function programOf(reach: Reach, name: string, cwd: string): FoundProgram | undefined {
  return findProgram(name, { cwd: toAbsolutePath(cwd, reach.project), path: reach.env['PATH'] ?? '' })
}

/** A working directory inside the readable or the writable roots, held, so that the program starts in this very one. */
export function locateDirectory(reach: Reach, path: string): PathHandle {
  const absolute = toAbsolutePath(path, reach.project)
  const purpose = reach.read.cover(absolute) ? 'read' : 'write'
  if (!reach.read.cover(absolute) && !reach.write.cover(absolute)) throw outsideRoots(path, 'read')
  const { held, missing } = locate(reach, path, purpose)
  if (missing.length === 0 && held.stat.isDirectory()) return held
  held[Symbol.dispose]()
  if (missing.length === 0) throw wrongKind(path, kindOf(held.stat), 'directory')
  throw new ToolFailure({
    reason: 'file_not_found',
    message: `There is no directory "${path}" to run the program in.`,
  })
}

function notExecutable(name: string): ToolFailure {
  return new ToolFailure({
    reason: 'permission_denied',
    message: `"${name}" is not executable. Name a program, or the interpreter that runs this file.`,
  })
}
