import { delimiter, dirname } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { CommandOutcome, Commands } from '../../contract/services/sandbox.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import type { FoundProgram } from '../programs/find-program.ts'
import { locateDirectory, prepareProgram, programOf } from '../host/host-commands.ts'
import { requireWriting, type Reach } from '../files/reach.ts'
import { runTree, type TreeRequest } from '../programs/run-tree.ts'
import { ownEnvironment } from '../visible/own-environment.ts'
import { prepareOwn, writableOf } from '../places/own-folders.ts'
import { findMet } from '../places/find-met.ts'
import { findWithheld } from '../places/find-withheld.ts'
import { runningGuards } from '../leftovers/guard-notes.ts'
import { toProfilePlaces } from '../visible/profile-places.ts'
import { runGuarded, tellLeftBehind } from '../places/run-guarded.ts'
import { startPath } from '../host/start-path.ts'
import { bwrapArguments, type Inherited, type SandboxPlan } from './bwrap-arguments.ts'
import { firstProcess } from './first-process.ts'
import { gitAttributes } from './git-files.ts'
import { hideClosed } from './hide-closed.ts'
import { createHeldPlaces } from './hold-places.ts'
import { holdSandbox, type SandboxHold } from './hold-sandbox.ts'
import { identityFiles } from './identity-files.ts'
import type { Isolation, Means } from './isolation.ts'
import { openEgress, type Egress } from './open-egress.ts'
import { toSetupFailure } from './sandbox-fault.ts'
import { foldersOf, serverSettings } from './system-places.ts'
import { toOutcome } from './to-outcome.ts'
import type { Layer } from '../layers/layer.ts'
import { tooMuchHeld, watchSize } from '../layers/watch-size.ts'
import { followLayer } from '../layers/live/follow-layer.ts'
import { findKeptOut } from './find-kept-out.ts'
import { canHold, holdChanges, mayRunAgain, openHolding, wasLayerInTheWay } from './held-commands.ts'
import { findHidden } from './find-hidden.ts'

type Command = Parameters<Commands['run']>[0]

/** What bwrap finds at its descriptors. */
const descriptorsOf = { seccomp: 3, status: 4, begun: 5, first: 6 }

/** Programs in sandboxes of bubblewrap: each command has one of its own, with what its call may reach and nothing else. */
export function createIsolatedCommands(reach: Reach, isolation: Isolation): Commands {
  return {
    hosts: reach.profile.hosts,
    isolated: true,
    dryRuns: true,
    canHold: () => canHold(reach, isolation),
    keptOut: (folder) => findKeptOut(folder, reach, isolation),
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

/** Runs a command: once more in a copy of its roots, if something in it failed because of what an overlay cannot do. */
async function runCommand(given: Reach, command: Command, isolation: Isolation): Promise<CommandOutcome> {
  requireWriting(given, 'run programs')
  lookAhead(given, command, isolation)
  await given.swept
  tellLeftBehind(given)
  const means = isolation.require()
  const reach = inside(given, means)
  await using holding = await holdChanges(reach, command, isolation)
  if (command.live === true && holding?.layer !== undefined)
    return await runLive(reach, command, { isolation, means, layer: holding.layer })
  const outcome = await runIn(reach, command, { isolation, means, layer: holding?.layer })
  if (holding === undefined) return outcome
  if (!wasLayerInTheWay(holding, outcome)) return await holding.settle(outcome)
  const again = mayRunAgain(reach, command, outcome)
    ? await runInCopy(reach, command, { isolation, means, spentMs: outcome.durationMs })
    : undefined
  return again ?? (await holding.settle({ ...outcome, layerInTheWay: true }))
}

/** Begins to look for what is hidden, which the first command finds done then, and those after it are spared anyway. */
function lookAhead(reach: Reach, command: Command, isolation: Isolation): void {
  const { readRoots, writeRoots } = reach.profile
  const { readOnly, writable } = toProfilePlaces(readRoots, writeRoots)
  const request = { globs: reach.hidden(), places: [...readOnly, ...writable] }
  // What fails is looked for anew, and fails the command then.
  isolation.hidden({ ...request, signals: [command.signal, ...reach.signals()] }).catch(() => {})
}

/** Runs a program that goes on beside other calls, in a layer from which it lands while it runs. */
async function runLive(
  reach: Reach,
  command: Command,
  { isolation, means, layer }: { isolation: Isolation; means: Means; layer: Layer },
): Promise<CommandOutcome> {
  let hold: SandboxHold | undefined
  const live = await followLayer(layer, {
    reach,
    freeze: async () => await hold?.freeze(),
    onHeldBack: (held) => command.onHeldBack?.(held),
  })
  try {
    const onHold = (held: SandboxHold) => (hold = held)
    const outcome = await runIn(reach, command, { isolation, means, layer, onHold })
    return { ...outcome, ...(await live.end(outcome)) }
  } finally {
    await live.drop()
  }
}

/** Undefined if no copy can be made now, or nothing be run in it. */
async function runInCopy(
  reach: Reach,
  command: Command,
  { isolation, means, spentMs }: { isolation: Isolation; means: Means; spentMs: number },
): Promise<CommandOutcome | undefined> {
  const timeoutMs = Math.max(1, command.timeoutMs - spentMs)
  try {
    await using holding = await openHolding(reach, command, { isolation, way: 'copy' })
    const outcome = await runIn(reach, { ...command, timeoutMs }, { isolation, means, layer: holding.layer })
    return await holding.settle(outcome)
  } catch (error) {
    if (error instanceof ToolFailure && error.code === 'SANDBOX.UNAVAILABLE') return undefined
    throw error
  }
}

/** What a command runs in. */
interface RunningIn {
  readonly isolation: Isolation
  readonly means: Means
  readonly layer: Layer | undefined
  readonly onHold?: (hold: SandboxHold) => void
}

async function runIn(
  reach: Reach,
  command: Command,
  { isolation, means, layer, onHold }: RunningIn,
): Promise<CommandOutcome> {
  const program = prepareProgram(reach, command)
  using egress = command.dryRun === true ? undefined : await openEgress(reach, means, command.onRefused)
  const over = new AbortController()
  const signals = [command.signal, ...reach.signals(), over.signal]
  const { plan, env } = await planSandbox(reach, {
    command,
    program,
    means,
    isolation,
    signals,
    egress,
    layer,
  })
  using _held = plan.held
  const sandbox = bwrapArguments(plan, descriptorsOf, runningGuards())
  const argv = [
    'bwrap',
    ...sandbox.arguments,
    '--',
    ...firstProcess(isolation.bounds, { begun: descriptorsOf.begun, bridge: egress?.bridge }),
    startPath(reach, command, program),
    ...command.argv.slice(1),
  ]
  const { user } = means
  const toDescriptor = (inherited: Inherited) =>
    typeof inherited === 'object' && 'self' in inherited
      ? { place: inherited.self }
      : { file: isolation.contents.file(inherited) }
  let hold: SandboxHold | undefined
  const request: TreeRequest = {
    ...command,
    ...(layer?.wrap({ executable: means.bwrap, argv }) ?? { executable: means.bwrap, argv }),
    cwd: '/',
    env: { ...command.env, ...env },
    identity: user.other && layer === undefined ? { uid: user.uid, gid: user.gid } : undefined,
    descriptors: [toDescriptor(means.filter), 'pipe', 'pipe', ...sandbox.contents.map(toDescriptor)],
    together: true,
    launcher: reach.launcher,
    graceMs: reach.limits.graceMs,
    onCpuMs: reach.onCpuMs,
    signals,
    hold: (started, metered) => {
      hold = holdSandbox(started, { memoryBytes: isolation.bounds.memoryBytes, metered })
      onHold?.(hold)
      return hold
    },
  }
  const { layerBytes } = isolation.bounds
  using _size = layer && watchSize(layer, layerBytes, () => over.abort())
  const { outcome, aside, replaced } =
    layer === undefined
      ? await runGuarded(sandbox.guarded, () => runTree(request))
      : { outcome: await runTree(request), aside: [], replaced: [] }
  if (over.signal.aborted) throw tooMuchHeld(layerBytes)
  const placeAt = (descriptor: number) => {
    const inherited = sandbox.contents[descriptor - descriptorsOf.first]
    return typeof inherited === 'object' && 'self' in inherited ? inherited.real : undefined
  }
  const failed = () =>
    toSetupFailure(outcome.stderr.head + outcome.stderr.tail, { user, project: reach.project, placeAt })
  if (outcome.ended === 'exit' && (await hold?.made) !== true) throw failed()
  const network = egress?.report(outcome)
  if (outcome.ended === 'exit' && (await hold?.begun) !== true) throw failed()
  const { readOnly, writable } = plan.places
  const emptied = findMet(outcome, plan.hidden, { roots: [...writable, ...readOnly], argv: command.argv })
  const withheld = findWithheld(outcome, sandbox.guarded, command)
  return toOutcome(outcome, { aside, withheld, replaced, emptied, network })
}

interface Planning {
  command: Command
  program: FoundProgram
  means: Means
  isolation: Isolation
  signals: readonly AbortSignal[]
  egress: Egress | undefined
  layer: Layer | undefined
}

async function planSandbox(
  reach: Reach,
  planning: Planning,
): Promise<{ plan: SandboxPlan; env: Record<string, string> }> {
  const { command, means, isolation, signals, egress, layer } = planning
  const { profile, own } = reach
  prepareOwn(own, means.user.other ? means.user : undefined)
  const cwd = findDirectory(reach, command.cwd)
  const places = toProfilePlaces(profile.readRoots, profile.writeRoots)
  const all = [...places.readOnly, ...places.writable]
  const found = await findHidden({ globs: reach.hidden(), places: all, signals }, { isolation, layer })
  const aliases = await isolation.aliases(found, all)
  const hidden = hideClosed({ ...found, files: [...found.files, ...aliases] }, means.user, all)
  const attributes = gitAttributes(hidden.files, all)
  const env = { ...ownEnvironment(reach.env, places, { own: '/tmp', home: own?.home }), ...egress?.env }
  const there = [...all, ...writableOf(own), ...(own?.read ?? [])]
  const settings = own?.home === undefined ? [] : serverSettings
  const wanted = [
    ...means.folders,
    ...settings,
    ...placesOfProgram(reach, planning),
    ...(egress?.programs ?? []),
  ]
  const plan: SandboxPlan = {
    user: means.user,
    places,
    system: egress?.system ?? means.system,
    folders: [...new Set(wanted)].filter((folder) => !there.some((place) => isInside(folder, place))),
    own: { write: writableOf(own), read: own?.read ?? [], over: own?.over ?? [], seen: layer?.seen },
    hidden,
    held: createHeldPlaces(places.writable, layer?.seen),
    cwd,
    files: {
      ...means.copied,
      ...identityFiles(means.user, env['HOME'] ?? '/tmp'),
      ...(attributes !== undefined && { '/etc/gitattributes': attributes }),
      ...egress?.files,
    },
    tmpBytes: isolation.bounds.tmpBytes,
    sockets: egress?.sockets ?? {},
    servesNames: egress !== undefined,
  }
  return { plan, env }
}

/** Its own home is a directory to start in, though no root of the profile. */
function findDirectory(reach: Reach, path: string): string {
  if (path === reach.own?.home) return path
  using found = locateDirectory(reach, path)
  return found.real
}

/** One of the search path may need what lies beside it; of one that the call names by its path nothing else is laid. */
function placesOfProgram(reach: Reach, { command, program, means }: Planning): string[] {
  const { named, path } = programOf(reach, command.argv[0] ?? '', command.cwd) ?? program
  return path === program.path && means.path.split(delimiter).includes(dirname(named))
    ? foldersOf(dirname(path), means.user)
    : [program.path]
}
