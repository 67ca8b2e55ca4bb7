import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { SetupError, ToolFailure } from '../contract/errors.ts'
import { nearestNames } from '../kit/nearest-names.ts'
import type { Command, CommandLine } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { guardOutput } from './guard-output.ts'
import { showLine, showSafely } from './show-safely.ts'
import { UsageError } from './usage-error.ts'

/** Each command is loaded only when it is asked for. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  tools: async () => (await import('./commands/tools.ts')).tools,
  call: async () => (await import('./commands/call.ts')).call,
  explain: async () => (await import('./commands/explain.ts')).explain,
  consent: async () => (await import('./commands/consent.ts')).consent,
  evidence: async () => (await import('./commands/evidence.ts')).evidence,
  mcp: async () => (await import('./commands/mcp.ts')).mcp,
  policy: async () => (await import('./commands/policy.ts')).policy,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  token: async () => (await import('./commands/token.ts')).token,
  serve: async () => (await import('./commands/serve.ts')).serve,
}

const common: ParseArgsOptionsConfig = {
  project: { type: 'string' },
  home: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
}

/** Runs one command and sets the exit code. Whatever goes wrong is one clear message on stderr, never a stack. */
export async function runMain(argv: readonly string[]): Promise<void> {
  guardOutput()
  try {
    process.exitCode = await dispatch(argv)
  } catch (error) {
    const { code, message, exitCode } = describe(error)
    process.exitCode = exitCode
    process.stderr.write(`handrail: ${code}: ${showSafely(message)}\n`)
  }
}

function describe(error: unknown): { code: string; message: string; exitCode: number } {
  if (error instanceof UsageError)
    return { code: 'invalid_usage', message: error.message, exitCode: exitCodes.usage }
  if (error instanceof SetupError)
    return { code: error.code, message: error.message, exitCode: exitCodes.usage }
  if (error instanceof ToolFailure)
    return {
      code: `${error.code} (${error.reason})`,
      message: error.message,
      exitCode: exitCodes.toolError,
    }
  const message = error instanceof Error ? error.message : String(error)
  return {
    code: 'UNKNOWN.INTERNAL',
    message: `${message}. This is a defect in Handrail; please report it.`,
    exitCode: exitCodes.toolError,
  }
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  if (name === undefined) return printHelp(process.stderr, exitCodes.usage)
  if (name === '--help' || name === '-h') return printHelp(process.stdout, exitCodes.ok)
  if (name === '--version' || name === '-v') {
    const { packageVersion } = await import('../server/package-version.ts')
    process.stdout.write(`${packageVersion()}\n`)
    return exitCodes.ok
  }
  if (name === 'help') {
    const [about] = rest
    return about === undefined
      ? printHelp(process.stdout, exitCodes.ok)
      : printUsage(about, await findCommand(about))
  }
  const command = await findCommand(name)
  const given = parse(name, rest, command)
  return given.options['help'] === true ? printUsage(name, command) : command.run(given)
}

async function findCommand(name: string): Promise<Command> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load !== undefined) return load()
  const nearest = nearestNames(name, [...Object.keys(commands), 'help'], 1)[0]
  throw new UsageError(
    `There is no command "${shorten(name)}".${nearest === undefined ? '' : ` Did you mean "${nearest}"?`} Run "handrail help" to see all.`,
  )
}

function parse(name: string, argv: readonly string[], command: Command): CommandLine {
  const options = { ...common, ...command.options }
  const usage = `Usage: handrail ${name} ${command.usage}`
  let parsed
  try {
    parsed = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    const what = message.split('. To specify')[0] ?? message
    throw new UsageError(`${shorten(what)}.${nearestOption(what, Object.keys(options))}\n${usage}`)
  }
  const extra = parsed.positionals[command.takes]
  if (extra !== undefined)
    throw new UsageError(
      `"${shorten(extra)}" is one argument too many; put JSON in single quotes, so that the shell leaves it alone.\n${usage}`,
    )
  return { positionals: parsed.positionals, options: parsed.values as CommandLine['options'] }
}

function nearestOption(message: string, known: readonly string[]): string {
  const wanted = /^Unknown option '-+([^']*)'/.exec(message)?.[1]
  const nearest = wanted === undefined ? undefined : nearestNames(wanted, known, 1)[0]
  return nearest === undefined ? '' : ` Did you mean "--${nearest}"?`
}

function shorten(text: string): string {
  return showLine(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}

function printUsage(name: string, command: Command): number {
  process.stdout.write(`handrail ${name} ${command.usage}\n  ${command.summary}\n`)
  return exitCodes.ok
}

async function printHelp(stream: NodeJS.WriteStream, exitCode: number): Promise<number> {
  const lines = ['handrail – the tool runtime for agents', '', 'Usage: handrail <command> [options]', '']
  for (const [name, load] of Object.entries(commands)) {
    const command = await load()
    lines.push(`  ${name} ${command.usage}`, `      ${command.summary}`)
  }
  lines.push(
    '',
    'Every command takes --project DIR (HANDRAIL_PROJECT, default the current folder) and --home DIR (HANDRAIL_HOME, default ~/.handrail).',
    'Also: handrail help <command>, handrail --version.',
    'Exit codes: 0 ok, 1 tool error, 2 bad usage or configuration, 3 denied, 130 ended by Ctrl-C.',
  )
  stream.write(`${lines.join('\n')}\n`)
  return exitCode
}
