import { ToolFailure } from '../../contract/errors.ts'
import type { ToolOutput } from '../../contract/result.ts'
import type { CommandOutcome } from '../../contract/sandbox.ts'
import type { Tool, ToolContext } from '../../contract/tool.ts'
import { quoteArgument, quoteArgv } from '../../kit/quote-argv.ts'
import { showControls } from '../../kit/show-controls.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { requireSupply } from '../require-supply.ts'
import { checkPath } from './check-path.ts'
import { whereField } from './fields.ts'
import { invalidInput, requireWellFormed } from './invalid-input.ts'
import { outcomeSchema, showOutcome } from './show-outcome.ts'

const maxStreamBytes = 65_536
/** Progress beyond this many letters is not shown: the result has the output. */
const maxProgressLetters = 65_536

/** What a plan leaves for the run. */
interface PlannedCommand {
  executable: string
  cwd: string
}

/** `code.run_command`: a program by its argument list, without a shell, ended as a whole tree at its time limit. */
export function runCommandTool(): Tool {
  return defineBuiltin({
    name: 'code.run_command',
    title: 'Run command',
    description:
      'Runs a program to its end: argv is a list, no shell, so no pipes, globs or variables. Waits up to timeout_ms (120000, at most 600000), then ends the program with all its children. Keeps the first and last part of each output over 65536 bytes. A non-zero exit code is a failure.',
    tags: ['code', 'process', 'write', 'dangerous'],
    permission: 'write',
    sideEffect: 'process',
    safety: 'high',
    consent: { required: true },
    scopes: [
      { resource: 'handrail:exec:*', action: 'execute' },
      { resource: 'handrail:file:*', action: 'read' },
      { resource: 'handrail:file:*', action: 'write' },
    ],
    capabilities: { read: ['*'], write: ['*'], executables: ['*'] },
    limits: { timeoutMs: 600_000, concurrency: 8 },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    needs: ['files', 'commands'],
    inputSchema: {
      type: 'object',
      properties: {
        argv: {
          type: 'array',
          items: { type: 'string', maxLength: 131_072 },
          minItems: 1,
          maxItems: 1_000,
          description: 'The program and its arguments, each as it is, such as ["git", "log", "-1"].',
        },
        cwd: { ...whereField, description: 'Working directory. Default: the project root.' },
        timeout_ms: { type: 'integer', minimum: 1, maximum: 600_000, default: 120_000 },
        description: {
          type: 'string',
          maxLength: 500,
          description: 'What it is for, in one line, for the person who is asked.',
        },
      },
      required: ['argv'],
      additionalProperties: false,
    },
    outputSchema: outcomeSchema,
    decode: (input) => ({
      argv: input.argv.map(toArgument),
      cwd: input.cwd,
      timeoutMs: input.timeout_ms,
      description: input.description,
    }),
    async plan({ argv, cwd: asked, description }, context) {
      const files = requireSupply(context.files, 'files')
      const cwd = await files.resolve(asked, 'read')
      const stat = await files.stat(cwd)
      if (stat?.kind !== 'directory') throw noDirectory(asked, stat !== undefined)
      const executable = await requireSupply(context.commands, 'commands').which(argv[0] ?? '', cwd)
      if (executable === undefined) throw commandNotFound(argv[0] ?? '', cwd)
      const planned: PlannedCommand = { executable, cwd }
      return {
        operations: [{ kind: 'process', executable, argv, cwd }],
        preview: {
          kind: 'argv',
          title: `Run ${shorten(quoteArgv(argv))}`,
          body: [
            quoteArgv(argv),
            `in ${quoteArgument(cwd)}`,
            `program ${quoteArgument(executable)}`,
            ...(description === undefined
              ? []
              : [`said to be for: ${showControls(description).replaceAll(/\s+/g, ' ')}`]),
          ].join('\n'),
        },
        scope: `${quoteArgument(executable)} in ${quoteArgument(cwd)}`,
        planned,
      }
    },
    async run({ argv, timeoutMs }, context, { executable, cwd }) {
      const commands = requireSupply(context.commands, 'commands')
      await checkPath(requireSupply(context.files, 'files'), cwd, 'read')
      const now = await commands.which(argv[0] ?? '', cwd)
      if (now !== executable) throw otherProgram(argv[0] ?? '', executable)
      const outcome = await commands.run({
        executable,
        argv,
        cwd,
        timeoutMs,
        maxBytes: maxStreamBytes,
        signal: context.signal,
        sink: context.artifactSink,
        onOutput: reportProgress(context),
      })
      return toResult(outcome, { argv, timeoutMs, signal: context.signal })
    },
  })
}

function toArgument(argument: string, index: number): string {
  if (argument.includes('\0'))
    throw invalidInput(`argv[${index}] has a NUL character, which no argument can carry. Leave it out.`)
  return requireWellFormed(argument, `argv[${index}]`)
}

function reportProgress(context: ToolContext): (chunk: { text: string }) => void {
  let left = maxProgressLetters
  return ({ text }) => {
    if (left <= 0) return
    context.progress({ message: text.slice(0, left) })
    left -= text.length
    if (left <= 0) context.progress({ message: '\n… more output follows; the result has it …\n' })
  }
}

function toResult(
  outcome: CommandOutcome,
  about: { argv: readonly string[]; timeoutMs: number; signal: AbortSignal },
): ToolOutput {
  return showOutcome(outcome, {
    command: shorten(quoteArgv(about.argv)),
    timeoutMs: about.timeoutMs,
    // The runtime gives its reason for an abort as a word.
    abortReason: String(about.signal.reason),
  })
}

function shorten(text: string): string {
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}

function noDirectory(cwd: string, exists: boolean): ToolFailure {
  return new ToolFailure({
    reason: exists ? 'not_a_directory' : 'file_not_found',
    message: `The working directory "${cwd}" ${exists ? 'is no directory' : 'does not exist'}. Give one that exists.`,
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
