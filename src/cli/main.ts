import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { SetupError } from '../contract/errors.ts'
import { nearestNames } from '../kit/nearest-names.ts'
import type { Command, CommandLine } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { UsageError } from './usage-error.ts'

/** Each command is loaded only when it is asked for. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  tools: async () => (await import('./commands/tools.ts')).tools,
  call: async () => (await import('./commands/call.ts')).call,
  explain: async () => (await import('./commands/explain.ts')).explain,
  evidence: async () => (await import('./commands/evidence.ts')).evidence,
  serve: async () => (await import('./commands/serve.ts')).serve,
}

const common: ParseArgsOptionsConfig = {
  project: { type: 'string' },
  home: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
}

/** Runs one command and sets the exit code. Whatever goes wrong is one clear message on stderr, never a stack. */
export async function runMain(argv: readonly string[]): Promise<void> {
  try {
    process.exitCode = await dispatch(argv)
  } catch (error) {
    process.exitCode = exitCodes.usage
    if (error instanceof UsageError) process.stderr.write(`handrail: ${error.message}\n`)
    else if (error instanceof SetupError) process.stderr.write(`handrail: ${error.code}: ${error.message}\n`)
    else process.stderr.write(`handrail: ${error instanceof Error ? error.message : String(error)}\n`)
  }
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  if (name === undefined || name === 'help' || name === '--help' || name === '-h')
    return printHelp(name === undefined)
  if (name === '--version' || name === '-v') {
    const { readVersion } = await import('./read-version.ts')
    process.stdout.write(`${readVersion()}\n`)
    return exitCodes.ok
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load === undefined) {
    const nearest = nearestNames(name, Object.keys(commands), 1)[0]
    throw new UsageError(
      `There is no command "${name}".${nearest === undefined ? '' : ` Did you mean "${nearest}"?`} Run "handrail help" to see all.`,
    )
  }
  const command = await load()
  const given = parse(name, rest, command)
  if (given.options['help'] === true) {
    process.stdout.write(`handrail ${name} ${command.usage}\n  ${command.summary}\n`)
    return exitCodes.ok
  }
  return command.run(given)
}

function parse(name: string, argv: readonly string[], command: Command): CommandLine {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { ...common, ...command.options },
      allowPositionals: true,
      strict: true,
    })
    return { positionals, options: values as CommandLine['options'] }
  } catch (error) {
    const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    throw new UsageError(`${message.split('. To specify')[0]}\nUsage: handrail ${name} ${command.usage}`)
  }
}

async function printHelp(missing: boolean): Promise<number> {
  const lines = ['handrail – the tool runtime for agents', '', 'Usage: handrail <command> [options]', '']
  for (const [name, load] of Object.entries(commands)) {
    const command = await load()
    lines.push(`  ${name} ${command.usage}`, `      ${command.summary}`)
  }
  lines.push(
    '',
    'Every command takes --project DIR (HANDRAIL_PROJECT, default the current folder) and --home DIR (HANDRAIL_HOME, default ~/.handrail).',
    'Exit codes: 0 ok, 1 tool error, 2 bad usage or configuration, 3 denied.',
  )
  ;(missing ? process.stderr : process.stdout).write(`${lines.join('\n')}\n`)
  return missing ? exitCodes.usage : exitCodes.ok
}
