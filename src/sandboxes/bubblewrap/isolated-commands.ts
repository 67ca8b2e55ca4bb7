import { delimiter, dirname } from 'node:path'
import type { CommandOutcome, Commands } from '../../contract/sandbox.ts'
import { isInside } from '../../kit/is-inside.ts'
import type { FoundProgram } from '../host/find-program.ts'
import { locateDirectory, prepareProgram, programOf } from '../host/host-commands.ts'
import { requireWriting, type Reach } from '../host/reach.ts'
import { runTree } from '../host/run-tree.ts'
import { setAside } from '../places/guarded-places.ts'
import { ownEnvironment } from '../places/own-environment.ts'
import { toProfilePlaces } from '../places/profile-places.ts'
import { startPath } from '../places/start-path.ts'
import { bwrapArguments, type Inherited, type SandboxPlan } from './bwrap-arguments.ts'
import { firstProcess } from './first-process.ts'
import { createHeldPlaces } from './hold-places.ts'
import { holdSandbox, type SandboxHold } from './hold-sandbox.ts'
import { identityFiles } from './identity-files.ts'
import type { Isolation, Means } from './isolation.ts'
import { openOutlet, type Outlet } from './open-outlet.ts'
import { toSetupFailure } from './sandbox-fault.ts'
import { foldersOf } from './system-places.ts'
import { toOutcome } from './to-outcome.ts'

type Command = Parameters<Commands['run']>[0]

/** What bwrap finds at its descriptors. */
const descriptorsOf = { seccomp: 3, status: 4, begun: 5, first: 6 }

/** Programs in sandboxes of bubblewrap: each command has one of its own, with what its call may reach and nothing else. */
export function createIsolatedCommands(reach: Reach, isolation: Isolation): Commands {
  return {
    hosts: reach.profile.hosts,
    isolated: true,
    async which(argv0, cwd) {
      const program = programOf(inside(reach, isolation.find()), argv0, cwd)
      return program?.executable === true ? program.path : undefined
    },
    run: (command) => reach.track(runCommand(reach, command, isolation)),
  }
}

/** What the call reaches, with the search path that the sandbox has. */
function inside(reach: Reach, means: Means | undefined): Reach {
  return means === undefined ? reach : { ...reach, env: { ...reach.env, PATH: means.path } }
}

async function runCommand(given: Reach, command: Command, isolation: Isolation): Promise<CommandOutcome> {
  requireWriting(given, 'run programs')
  const means = isolation.require()
  const reach = inside(given, means)
  const program = prepareProgram(reach, command)
  using outlet = await openOutlet(reach, means)
  const signals = [command.signal, ...reach.signals()]
  const { plan, env } = await planSandbox(reach, { command, program, means, isolation, signals, outlet })
  using _held = plan.held
  const sandbox = bwrapArguments(plan, descriptorsOf)
  const argv = [
    'bwrap',
    ...sandbox.arguments,
    '--',
    ...firstProcess(isolation.bounds, { begun: descriptorsOf.begun, bridge: outlet?.bridge }),
    startPath(reach, command, program),
    ...command.argv.slice(1),
  ]
  const { user } = means
  const toDescriptor = (inherited: Inherited) =>
    typeof inherited === 'object' && 'self' in inherited
      ? { place: inherited.self }
      : { file: isolation.contents.file(inherited) }
  let hold: SandboxHold | undefined
  const outcome = await runTree({
    ...command,
    executable: means.bwrap,
    argv,
    cwd: '/',
    env: { ...command.env, ...env },
    identity: user.other ? { uid: user.uid, gid: user.gid } : undefined,
    descriptors: [toDescriptor(means.filter), 'pipe', 'pipe', ...sandbox.contents.map(toDescriptor)],
    launcher: reach.launcher,
    graceMs: reach.limits.graceMs,
    onCpuMs: reach.onCpuMs,
    signals,
    hold: (started) => (hold = holdSandbox(started, isolation.bounds.memoryBytes)),
  })
  const failed = () => toSetupFailure(outcome.stderr.head + outcome.stderr.tail, user.name)
  if (outcome.ended === 'exit' && (await hold?.made) !== true) throw failed()
  const network = outlet?.report(outcome)
  if (outcome.ended === 'exit' && (await hold?.begun) !== true) throw failed()
  return toOutcome(outcome, { aside: setAside(sandbox.guarded), network })
}

interface Planning {
  command: Command
  program: FoundProgram
  means: Means
  isolation: Isolation
  signals: readonly AbortSignal[]
  outlet: Outlet | undefined
}

async function planSandbox(
  reach: Reach,
  planning: Planning,
): Promise<{ plan: SandboxPlan; env: Record<string, string> }> {
  const { command, means, isolation, signals, outlet } = planning
  using cwd = locateDirectory(reach, command.cwd)
  const { profile } = reach
  const places = toProfilePlaces(profile.readRoots, profile.writeRoots)
  const all = [...places.readOnly, ...places.writable]
  const hidden = await isolation.hidden({ globs: reach.hidden(), places: all, signals })
  const env = { ...ownEnvironment(reach.env, places, '/tmp'), ...outlet?.env }
  const wanted = [...means.folders, ...placesOfProgram(reach, planning), ...(outlet?.programs ?? [])]
  const plan: SandboxPlan = {
    user: means.user,
    places,
    system: outlet?.system ?? means.system,
    folders: [...new Set(wanted)].filter((folder) => !all.some((place) => isInside(folder, place))),
    hidden,
    held: createHeldPlaces(places.writable),
    cwd: cwd.real,
    files: { ...means.copied, ...identityFiles(means.user, env['HOME'] ?? '/tmp') },
    tmpBytes: isolation.bounds.tmpBytes,
    sockets: outlet?.sockets ?? {},
  }
  return { plan, env }
}

/** One of the search path may need what lies beside it; of one that the call names by its path nothing else is laid. */
function placesOfProgram(reach: Reach, { command, program, means }: Planning): string[] {
  const { named, path } = programOf(reach, command.argv[0] ?? '', command.cwd) ?? program
  return path === program.path && means.path.split(delimiter).includes(dirname(named))
    ? foldersOf(dirname(path), means.user)
    : [program.path]
}
