import { ToolFailure } from '../contract/base/errors.ts'
import type { JsonObject } from '../contract/base/json.ts'
import type { Operation, Plan, PlanContext, Preview } from '../contract/tool/plan.ts'
import type { Commands, Files } from '../contract/services/sandbox.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import type { Tool, ToolContext } from '../contract/tool/tool.ts'
import { defineTool } from '../define/define-tool.ts'
import { isInside } from '../kit/match/is-inside.ts'
import { quoteArgument, quoteArgv } from '../kit/text/quote-argv.ts'
import { fillArguments, toArguments } from './arguments.ts'
import { checkProgram } from './check-program.ts'
import type { KnownTools } from './parse-composition.ts'
import { findCommand } from './find-command.ts'
import { toCallInput } from './to-call-input.ts'
import { toManifest, type ToolBounds } from './to-manifest.ts'
import { toReturn } from './to-return.ts'
import type { ToolFile } from './tool-file.ts'

/** What tools of files stand on. */
export interface DeclaringContext {
  checker: SchemaChecker
  /** Where the variables of an allow-list come from. */
  env: Readonly<Record<string, string | undefined>>
  /** What tools may touch at most, and what else is a part of their definition. Default: all that the call may. */
  bounds?: ToolBounds
  /** What files may make one tool of, beside each other. Default: nothing. */
  known?: KnownTools
}

/** What a plan leaves for the run. */
interface Planned {
  executable: string
  argv: readonly string[]
  cwd: string
}

/** The program waits for the limit of the call, which ends it. */
const longestMs = 600_000

/** The tool that a file without issues declares; `path` is where the file lies. */
export function toTool(file: ToolFile, path: string, declaring: DeclaringContext): Tool {
  const program = findCommand(file, path)
  const args = toArguments(file.args)
  const start =
    file.command_type === 'shell' ? [program.asked, '-c', file.command, file.name] : [program.asked]
  const toArgv = (input: JsonObject) => [...start, ...fillArguments(args, input, file.command_type)]
  return defineTool({
    ...toManifest(file, program.executable, declaring.bounds),
    needs: ['files', 'commands'],
    ...(file.defer !== undefined && { defer: file.defer }),
    rawInput: file.input_schema,
    output: file.output_schema,
    plan: (input, context) => planCommand(file, toArgv(input), context),
    async run(input, context) {
      const { planned, files, commands } = context
      await checkStill(planned, files, commands)
      // What a program says on stderr is its log.
      const log = context.followOutput()
      const outcome = await commands.run({
        ...planned,
        readsNotLanded: true,
        timeoutMs: longestMs,
        maxBytes: file.stdout_limit_bytes,
        maxStderrBytes: file.stderr_limit_bytes,
        signal: context.signal,
        stdin: toCallInput(file.name, input, context),
        env: pickVariables(file, declaring.env, context),
        sink: context.artifactSink,
        onOutput: (chunk) => chunk.stream === 'stderr' && log.add(chunk),
      })
      log.end()
      return toReturn(outcome, { file, context, checker: declaring.checker })
    },
  })
}

async function planCommand(
  file: ToolFile,
  argv: readonly string[],
  { files, commands, writable }: PlanContext,
): Promise<Plan & { planned: Planned }> {
  const cwd = await findFolder(file.working_dir, files)
  const executable = await commands.which(argv[0] ?? '', cwd)
  if (executable === undefined) throw noProgram(file, argv[0] ?? '')
  if (file.permission === 'readonly' && writable.some((folder) => isInside(executable, folder)))
    throw programOfCalls(file, executable)
  const operations: Operation[] = [
    { kind: 'process', executable, argv, cwd },
    ...file.hosts.map((host): Operation => ({ kind: 'net', host, url: `https://${host}/` })),
  ]
  const planned: Planned = { executable, argv, cwd }
  return {
    operations,
    preview: toPreview(file, planned),
    scope: `${quoteArgument(executable)} in ${quoteArgument(cwd)}`,
    planned,
  }
}

function toPreview(file: ToolFile, { executable, argv, cwd }: Planned): Preview {
  const line = quoteArgv(argv)
  const { hosts } = file
  const variables = [...file.env_allowlist, ...file.secrets]
  return {
    kind: 'argv',
    title: `Run ${line.length > 160 ? `${line.slice(0, 160)}…` : line}`,
    body: [
      line,
      `in ${quoteArgument(cwd)}`,
      `program ${quoteArgument(executable)}`,
      ...(hosts.length > 0 ? [`may reach ${hosts.join(', ')}`] : []),
      ...(variables.length > 0 ? [`with ${variables.join(', ')}`] : []),
    ].join('\n'),
  }
}

async function findFolder(folder: string, files: Files): Promise<string> {
  const cwd = await files.resolve(folder, 'read')
  const stat = await files.stat(cwd)
  if (stat?.kind === 'directory') return cwd
  throw new ToolFailure({
    reason: stat === undefined ? 'file_not_found' : 'not_a_directory',
    message: `The working directory "${folder}" of the tool ${stat === undefined ? 'does not exist' : 'is not a directory'}. Tell the operator.`,
    data: { cwd: folder },
  })
}

/** What was shown to a person is what runs: the same folder, the same program. */
async function checkStill(
  { executable, argv, cwd }: Planned,
  files: Files,
  commands: Commands,
): Promise<void> {
  const isSame =
    (await files.resolve(cwd, 'read')) === cwd && (await commands.which(argv[0] ?? '', cwd)) === executable
  if (isSame) return
  throw new ToolFailure({
    reason: 'stale_preview',
    message: `"${executable}" or "${cwd}" is not what it was; nothing was run. Make the call again.`,
  })
}

/** A variable that is not set stays so; a secret that is not there fails the call. */
function pickVariables(
  { env_allowlist: names, secrets }: ToolFile,
  env: DeclaringContext['env'],
  context: ToolContext,
): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = env[name]
    if (value !== undefined) picked[name] = value
  }
  for (const name of secrets) picked[name] = context.secret(name)
  return picked
}

function noProgram({ name }: ToolFile, program: string): ToolFailure {
  return new ToolFailure({
    reason: 'command_not_found',
    message: `"${name}" cannot run: ${checkProgram(program) ?? `There is no program "${program}" in PATH. Install it.`} Until the operator has done so, use another tool.`,
    data: { program },
  })
}

function programOfCalls({ name }: ToolFile, program: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'executable_blocked',
    message: `"${program}" lies where calls may write, and "${name}" runs without a question. The operator can declare the permission "write" for it, or keep the program elsewhere.`,
    data: { program },
  })
}
