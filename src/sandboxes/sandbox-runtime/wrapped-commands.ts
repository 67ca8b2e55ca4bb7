import { randomBytes } from 'node:crypto'
import { realpathSync, rmSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import type { ToolFailure } from '../../contract/base/errors.ts'
import type { CommandOutcome, Commands } from '../../contract/services/sandbox.ts'
import { noSandbox } from '../bubblewrap/sandbox-fault.ts'
import { toOutcome } from '../bubblewrap/to-outcome.ts'
import type { FoundProgram } from '../programs/find-program.ts'
import { locateDirectory, prepareProgram, programOf } from '../host/host-commands.ts'
import type { Reach } from '../files/reach.ts'
import { runTree, type TreeRequest } from '../programs/run-tree.ts'
import { makeTemporaryFolder } from '../leftovers/temporary-folder.ts'
import { findGuardedPlaces, findReplaced, type GuardedPlaces } from '../visible/guarded-places.ts'
import type { createHiddenAliases } from '../places/hidden-aliases.ts'
import type { HiddenLook } from '../visible/hidden-look.ts'
import { ownEnvironment } from '../visible/own-environment.ts'
import { prepareOwn, writableOf } from '../places/own-folders.ts'
import { findWithheld } from '../places/find-withheld.ts'
import { runGuarded, tellLeftBehind } from '../places/run-guarded.ts'
import { toProfilePlaces, type ProfilePlaces } from '../visible/profile-places.ts'
import { startPath } from '../host/start-path.ts'
import { firstProcess, type ProcessBounds } from './first-process.ts'
import { holdGroup, type GroupHold } from './hold-group.ts'
import type { SandboxWriter } from './create-sandbox-writer.ts'
import type { Means } from './means.ts'
import { toSandboxRules, type SandboxRules } from './sandbox-rules.ts'
import { linksOfSystem, placesBeside } from './system-places.ts'

/** What tells the processes of one command from others. */
const markName = 'HANDRAIL_CALL'

/**
 * There bubblewrap lies between: it ends what it holds when Handrail dies, tells of signals by exit codes, and lets nothing be made where
 * nothing may be.
 */
const onLinux = process.platform === 'linux'

type Command = Parameters<Commands['run']>[0]

/** What the sandboxes of one project have in common. */
export interface Wrapping {
  readonly bounds: ProcessBounds
  /** What makes a sandbox here. Fails with `SANDBOX.UNAVAILABLE` where there is nothing. */
  require(): Means
  readonly hidden: HiddenLook
  /** Other names of that. */
  readonly aliases: ReturnType<typeof createHiddenAliases>
  readonly writer: SandboxWriter
}

/** Programs in sandboxes that sandbox-runtime writes: each command has one of its own, with what its call may reach and nothing else. */
export function createWrappedCommands(reach: Reach, wrapping: Wrapping): Commands {
  return {
    // The only way out is that of the call itself.
    hosts: [],
    isolated: true,
    async which(argv0, cwd) {
      const program = programOf(reach, argv0, cwd)
      return program?.executable === true ? program.path : undefined
    },
    run: (command) => reach.track(runCommand(reach, command, wrapping)),
  }
}

async function runCommand(reach: Reach, command: Command, wrapping: Wrapping): Promise<CommandOutcome> {
  await reach.swept
  tellLeftBehind(reach)
  const means = wrapping.require()
  const program = prepareProgram(reach, command)
  const own = realpathSync.native(makeTemporaryFolder())
  try {
    prepareOwn(reach.own)
    const ownWrite = writableOf(reach.own)
    const places = toProfilePlaces(
      [...reach.profile.readRoots, ...ownWrite, ...(reach.own?.read ?? [])],
      [...reach.profile.writeRoots, ...ownWrite],
    )
    const folders = { own, home: reach.own?.home }
    const { rules, guarded } = await planRules(reach, { command, program, means, places, own, wrapping })
    const sandbox = await wrapping.writer.write(rules)
    try {
      const started = [startPath(reach, command, program), ...command.argv.slice(1)]
      const request = {
        executable: means.program,
        argv: [means.program, ...sandbox, ...firstProcess(wrapping.bounds, !onLinux), ...started],
        env: { ...command.env, ...ownEnvironment(reach.env, places, folders) },
      }
      const run = () => runInside(reach, command, request)
      // On Linux bubblewrap lies between, tells of signals by exit codes, and lets nothing be made where nothing may be.
      if (onLinux) {
        const outcome = await run()
        const found = { withheld: findWithheld(outcome, guarded, command), replaced: findReplaced(guarded) }
        return toOutcome(outcome, { aside: [], ...found, emptied: [], network: undefined })
      }
      const { outcome, aside } = await runGuarded(guarded, run)
      return aside.length > 0 ? { ...outcome, setAside: aside } : outcome
    } finally {
      await wrapping.writer.end()
    }
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

interface Planning {
  command: Command
  program: FoundProgram
  means: Means
  places: ProfilePlaces
  own: string
  wrapping: Wrapping
}

async function planRules(
  reach: Reach,
  { command, program, means, places, own, wrapping }: Planning,
): Promise<{ rules: SandboxRules; guarded: GuardedPlaces }> {
  const signals = [command.signal, ...reach.signals()]
  const all = [...places.readOnly, ...places.writable]
  const guarded = findGuardedPlaces(places.writable)
  const found = await wrapping.hidden({ globs: reach.hidden(), places: all, signals })
  const rules = toSandboxRules({
    places,
    system: [...means.system, ...placesOfProgram(reach, command, program)],
    links: linksOfSystem,
    hidden: { ...found, files: [...found.files, ...(await wrapping.aliases(found, all))] },
    guarded,
    own,
    unasked: await wrapping.writer.unasked(),
  })
  return { rules, guarded }
}

/** One of the search path may need what lies beside it; of one that the call names by its path nothing else is readable. */
function placesOfProgram(reach: Reach, { argv, cwd }: Command, program: FoundProgram): string[] {
  const { named, path } = programOf(reach, argv[0] ?? '', cwd) ?? program
  const searched = (reach.env['PATH'] ?? '').split(delimiter).includes(dirname(named))
  return path === program.path && searched ? placesBeside(dirname(path)) : [program.path]
}

async function runInside(
  reach: Reach,
  command: Command,
  start: Pick<TreeRequest, 'executable' | 'argv' | 'env'>,
): Promise<CommandOutcome> {
  using cwd = locateDirectory(reach, command.cwd)
  const mark = randomBytes(12).toString('hex')
  const { graceMs } = reach.limits
  let held: GroupHold | undefined
  const outcome = await runTree({
    ...command,
    ...start,
    env: { ...start.env, [markName]: mark },
    cwd: cwd.self,
    descriptors: ['pipe'],
    launcher: reach.launcher,
    graceMs,
    onCpuMs: reach.onCpuMs,
    signals: [command.signal, ...reach.signals()],
    hold: (started) => (held = holdGroup(started, { marker: `${markName}=${mark}`, graceMs })),
  })
  if (outcome.ended === 'exit' && (await held?.began) !== true)
    throw toSetupFailure(outcome.stderr.head + outcome.stderr.tail)
  return outcome
}

/** What sandbox-exec, bwrap or the first process said when the program could not be started inside. */
function toSetupFailure(said: string): ToolFailure {
  const line = said.trim().split('\n').at(-1)?.slice(0, 500) ?? ''
  return noSandbox(
    'no_backend',
    `the sandbox could not be made: ${line === '' ? 'nothing was said of it' : line}. "handrail doctor" tells what holds here.`,
  )
}
