import { ToolFailure } from '../../../contract/base/errors.ts'
import type { HeldPlan, Operation, Plan, PlanContext, Review } from '../../../contract/tool/plan.ts'
import type { ContentBlock, ToolOutput } from '../../../contract/base/result.ts'
import type { CommandOutcome, Commands } from '../../../contract/services/sandbox.ts'
import type { ToolContext } from '../../../contract/tool/tool.ts'
import type { ContextWith } from '../../../define/tool-spec.ts'
import { quoteArgument } from '../../../kit/text/quote-argv.ts'
import { showControls } from '../../../kit/text/show-controls.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { checkPath } from '../base/check-path.ts'
import { invalidInput } from '../base/invalid-input.ts'
import { showOutcome } from './show-outcome.ts'

const defaultTimeoutMs = 120_000
const maxStreamBytes = 65_536

/** A command as a call asks for it. */
export interface AskedCommand {
  readonly argv: readonly string[]
  /** Names of the secrets that the program gets as environment variables. */
  readonly secrets: readonly string[]
  /** How it is shown to people. */
  readonly line: string
  readonly cwd: string
  readonly timeoutMs: number | undefined
  readonly background: boolean
  /** Whether all that it writes is shown and kept nowhere. */
  readonly dryRun: boolean
  readonly description: string | undefined
  readonly review: Review
  /** Whether it runs only if what it writes can be held back. */
  readonly mustHold: boolean
}

/** What a plan leaves for the run. */
export interface PlannedCommand {
  executable: string
  cwd: string
}

type CommandContext = ContextWith<'files' | 'commands' | 'jobs', PlannedCommand>

/** What a command would do, with its program and its working directory found. */
export async function planCommand(
  command: AskedCommand,
  { files, commands }: PlanContext,
): Promise<Plan & { planned: PlannedCommand }> {
  const { argv, line, cwd: asked, background, dryRun, mustHold, description, secrets } = command
  if (dryRun && background)
    throw invalidInput('A dry run cannot go on in the background. Leave out "background" or "dry_run".')
  if (mustHold && (background || dryRun))
    throw invalidInput(
      'Changes are reviewed when the command has ended, and a dry run keeps none. Leave out "review", or "background" and "dry_run".',
    )
  if (dryRun && commands.dryRuns !== true) throw cannotHold('dry run')
  const hosts = dryRun ? [] : commands.hosts
  const cwd = await files.resolve(asked, 'read')
  const stat = await files.stat(cwd)
  if (stat?.kind !== 'directory') throw noDirectory(asked, stat !== undefined)
  const [program = ''] = argv
  const executable = await commands.which(program, cwd)
  if (executable === undefined) throw commandNotFound(program, cwd)
  const held = await planHeld(command, commands)
  if (mustHold && held === undefined) throw cannotHold('review')
  const purpose =
    description === undefined ? [] : [`said to be for: ${showControls(description).replaceAll(/\s+/g, ' ')}`]
  return {
    operations: [
      { kind: 'process', executable, argv, cwd },
      ...hosts.map((host): Operation => ({ kind: 'net', host, url: `https://${host}/` })),
    ],
    preview: {
      kind: 'argv',
      title: `${dryRun ? 'Try' : 'Run'} ${shorten(line)}${background ? ' in the background' : ''}`,
      body: [
        // Only our own lines begin at the margin.
        line.replaceAll('\n', '\n    '),
        `in ${quoteArgument(cwd)}`,
        `program ${quoteArgument(executable)}`,
        ...(dryRun ? ['a dry run: what it changes is shown, and every file stays as it is'] : []),
        ...(hosts.length > 0 ? [`may reach ${hosts.join(', ')}`] : []),
        ...(secrets.length > 0 ? [`with ${secrets.join(', ')}`] : []),
        ...(background ? ['in the background, until the session ends'] : []),
        ...purpose,
      ].join('\n'),
    },
    // A yes to dry runs is none to runs that change something.
    scope: `${dryRun ? 'a dry run of ' : ''}${quoteArgument(executable)} in ${quoteArgument(cwd)}`,
    ...(held !== undefined && { held }),
    planned: { executable, cwd },
  }
}

/** How what the command writes is held back, if that can be done. It runs before a person is asked only if it reaches nothing outside, and is given nothing secret. */
async function planHeld(
  { background, dryRun, secrets, review, mustHold }: AskedCommand,
  commands: Commands,
): Promise<HeldPlan | undefined> {
  if (background || dryRun || (await commands.canHold?.()) !== true) return undefined
  const isContained = commands.hosts.length === 0 && secrets.length === 0
  return { tryFirst: review !== 'never' && isContained, required: mustHold, review }
}

/** Runs a planned command to its end, or starts it as a job. */
export async function runCommand(asked: AskedCommand, context: CommandContext): Promise<ToolOutput> {
  const { argv, line, background, dryRun, timeoutMs } = asked
  const { files, commands, planned } = context
  const { executable, cwd } = planned
  await checkPath(files, cwd, 'read')
  const now = await commands.which(argv[0] ?? '', cwd)
  if (now !== executable) throw otherProgram(argv[0] ?? '', executable)
  if (background) return startInBackground(asked, context)
  const waitMs = timeoutMs ?? defaultTimeoutMs
  const followed = context.followOutput()
  const outcome = await commands.run({
    executable,
    argv,
    cwd,
    timeoutMs: waitMs,
    maxBytes: maxStreamBytes,
    env: toVariables(asked, context),
    dryRun,
    readsNotLanded: true,
    signal: context.signal,
    sink: context.artifactSink,
    onOutput: (chunk) => followed.add(chunk),
  })
  followed.end()
  return showOutcome(outcome, {
    command: shorten(line),
    timeoutMs: waitMs,
    changes: await showEffects(outcome, context.project),
    // The runtime states its reason for an abort as a word.
    abortReason: String(context.signal.reason),
  })
}

async function showEffects({ changes, landed }: CommandOutcome, project: string): Promise<ContentBlock[]> {
  if (changes === undefined && (landed ?? []).length === 0) return []
  const { showChanges, showLanded } = await import('./show-changes.ts')
  return changes === undefined ? showLanded(landed ?? [], project) : showChanges(changes, project)
}

async function startInBackground(asked: AskedCommand, context: CommandContext): Promise<ToolOutput> {
  const { jobs, planned } = context
  const { executable, cwd } = planned
  const { argv, timeoutMs } = asked
  const title = shorten(asked.line)
  const env = toVariables(asked, context)
  const { id } = await jobs.start({ executable, argv, cwd, env, title, timeoutMs })
  const text = `Started ${title} as job ${id}. job.output gives what it prints, job.stop ends it; it ends with the session at the latest.`
  return toolOutput({
    content: [{ type: 'text', text }],
    summary: `${title}: job ${id}`,
    data: { job: id },
  })
}

/** The secrets of a command, by their names. One that is not there fails the call. */
function toVariables({ secrets }: AskedCommand, context: ToolContext): Record<string, string> {
  return Object.fromEntries(secrets.map((name) => [name, context.secret(name)]))
}

/** A command line in one line. */
function shorten(line: string): string {
  const text = line.slice(0, 161).replaceAll(/\r?\n/g, ' ⏎ ')
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}

function cannotHold(what: 'dry run' | 'review'): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.UNAVAILABLE',
    reason: 'no_backend',
    message: `The sandbox of this machine cannot hold back what a command writes, so nothing was run. Run the command without a ${what}, or in bubblewrap, where "hold" in the configuration is not "never": "handrail doctor" says what is missing.`,
  })
}

function noDirectory(cwd: string, exists: boolean): ToolFailure {
  return new ToolFailure({
    reason: exists ? 'not_a_directory' : 'file_not_found',
    message: `The working directory "${cwd}" ${exists ? 'is not a directory' : 'does not exist'}. Give one that exists.`,
    data: { cwd },
  })
}

function commandNotFound(name: string, cwd: string): ToolFailure {
  return new ToolFailure({
    reason: 'command_not_found',
    message: `There is no program ${JSON.stringify(name)} on the search path or from "${cwd}". The first item of argv is the program alone, without arguments or shell syntax.`,
    data: { program: name },
  })
}

function otherProgram(name: string, executable: string): ToolFailure {
  return new ToolFailure({
    reason: 'stale_preview',
    message: `${JSON.stringify(name)} no longer means "${executable}"; nothing was run. Make the call again.`,
  })
}
