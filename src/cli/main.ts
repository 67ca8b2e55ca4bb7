import { parseArgs } from 'node:util'
import { SetupError, ToolFailure } from '../contract/base/errors.ts'
import { nearestNames } from '../kit/text/nearest-names.ts'
import type { Command, CommandGroup, CommandLine, Options } from './base/command.ts'
import { exitCodes } from './base/exit-codes.ts'
import { guardOutput } from './render/guard-output.ts'
import { commandPage, commonOptions, groupPage, overviewPage } from './render/help-page.ts'
import { showLine, showSafely } from './base/show-safely.ts'
import { UsageError } from './base/usage-error.ts'
import { pageWidth } from './base/wrap.ts'
import { messageOf } from '../kit/text/message-of.ts'
import { shorten } from '../kit/text/shorten.ts'
import type { CommandKeeper } from './ready/call-runtime.ts'

/** Each command is loaded only when it is asked for. */
const commands: Readonly<Record<string, () => Promise<Command | CommandGroup>>> = {
  tools: async () => (await import('./commands/tools.ts')).tools,
  call: async () => (await import('./commands/call.ts')).call,
  try: async () => (await import('./commands/try.ts')).tryCommand,
  run: async () => (await import('./commands/run.ts')).run,
  runs: async () => (await import('./commands/runs.ts')).runs,
  tasks: async () => (await import('./commands/tasks.ts')).tasks,
  schedules: async () => (await import('./commands/schedules.ts')).schedules,
  explain: async () => (await import('./commands/explain.ts')).explain,
  undo: async () => (await import('./commands/undo.ts')).undo,
  agents: async () => (await import('./commands/agents.ts')).agents,
  skills: async () => (await import('./commands/skills.ts')).skills,
  caplet: async () => (await import('./commands/caplet.ts')).caplet,
  memory: async () => (await import('./commands/memory.ts')).memory,
  approvals: async () => (await import('./commands/approvals.ts')).approvals,
  pause: async () => (await import('./commands/stops/pause.ts')).pause,
  resume: async () => (await import('./commands/stops/pause.ts')).resume,
  abort: async () => (await import('./commands/stops/abort.ts')).abort,
  calls: async () => (await import('./commands/stops/abort.ts')).calls,
  consent: async () => (await import('./commands/consent.ts')).consent,
  evidence: async () => (await import('./commands/evidence.ts')).evidence,
  sessions: async () => (await import('./commands/evidence/sessions.ts')).sessions,
  artifact: async () => (await import('./commands/evidence/artifact.ts')).artifact,
  mcp: async () => (await import('./commands/mcp.ts')).mcp,
  a2a: async () => (await import('./commands/a2a.ts')).a2a,
  policy: async () => (await import('./commands/policy.ts')).policy,
  hook: async () => (await import('./commands/hook.ts')).hook,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  token: async () => (await import('./commands/token.ts')).token,
  serve: async () => (await import('./commands/serve.ts')).serve,
  console: async () => (await import('./commands/console.ts')).consoleCommand,
  completion: async () => (await import('./commands/completion.ts')).completionOf(loadAll),
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

/** For a process that runs several commands: what one leaves behind for the next is kept, until `close`. */
export async function keepForNext(): Promise<CommandKeeper> {
  return (await import('./ready/call-runtime.ts')).keepCallRuntimes()
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
  const message = messageOf(error)
  return {
    code: 'UNKNOWN.INTERNAL',
    message: `${message}. This is a defect in Handrail; please report it.`,
    exitCode: exitCodes.toolError,
  }
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  if (name === undefined) return printOverview(process.stderr, exitCodes.usage)
  if (name === '--help' || name === '-h') return printOverview(process.stdout, exitCodes.ok)
  if (name === 'version' || name === '--version' || name === '-v') {
    const { packageVersion } = await import('../mcp/server/session/package-version.ts')
    process.stdout.write(`${packageVersion()}\n`)
    return exitCodes.ok
  }
  if (name === 'help') return printHelp(rest)
  const found = await findCommand(name)
  return 'verbs' in found ? runGroup(name, found, rest) : runCommand(name, found, rest)
}

async function findCommand(name: string): Promise<Command | CommandGroup> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load !== undefined) return load()
  if (name.startsWith('-'))
    throw new UsageError(
      `"${showShort(name)}" stands before any command. Write the command first, then its options: "handrail tools --project DIR".`,
    )
  const hint = suggest(name, [...Object.keys(commands), 'help', 'version'])
  throw new UsageError(`There is no command "${showShort(name)}".${hint} Run "handrail help" to see all.`)
}

function runCommand(name: string, command: Command, argv: readonly string[]): Promise<number> {
  return runWith(name, command, parse(name, argv, command.options))
}

async function runWith(name: string, command: Command, given: CommandLine): Promise<number> {
  if (given.options['help'] === true) return print(commandPage(name, command, pageWidth(process.stdout)))
  checkArguments(name, command, given)
  return command.run(given)
}

/** Options may stand before the verb, so all that any verb takes are read, and then held against what the one takes. */
async function runGroup(name: string, group: CommandGroup, argv: readonly string[]): Promise<number> {
  const all = Object.fromEntries(Object.values(group.verbs).flatMap(({ options }) => Object.entries(options)))
  const { positionals, options } = parse(name, argv, all)
  const [word = group.otherwise, ...rest] = positionals
  if (positionals.length === 0 && options['help'] === true)
    return print(groupPage(name, group, pageWidth(process.stdout)))
  const verb = findVerb(name, group, word)
  const own = `${name} ${word ?? ''}`
  const stray = Object.keys(options).find(
    (option) => !Object.hasOwn(verb.options, option) && !Object.hasOwn(commonOptions, option),
  )
  if (stray !== undefined) throw new UsageError(`"${own}" takes no --${stray}.\n${usageOf(own, verb)}`)
  return runWith(own, verb, { positionals: rest, options })
}

function findVerb(name: string, group: CommandGroup, word: string | undefined): Command {
  const verb = word !== undefined && Object.hasOwn(group.verbs, word) ? group.verbs[word] : undefined
  if (verb !== undefined) return verb
  const what = word === undefined ? 'Say what to do.' : `There is no "${name} ${showShort(word)}".`
  const hint =
    word === undefined ? '' : suggest(word, Object.keys(group.verbs)) || suggestOf(name, group, word)
  throw new UsageError(`${what}${hint}\n\n${groupPage(name, group, pageWidth(process.stderr)).trimEnd()}`)
}

/** Names of tools and calls have dots or `_`, which no verb has. "list" is what other programs call the verb of no word. */
function suggestOf(name: string, { ofNames, otherwise }: CommandGroup, word: string): string {
  if (word === 'list' && otherwise !== undefined) return ` Did you mean "${otherwise}"?`
  if (ofNames === undefined || !/[._]/.test(word)) return ''
  return ` To see it: handrail ${name} ${ofNames} ${showShort(word)}`
}

function checkArguments(name: string, command: Command, { positionals }: CommandLine): void {
  const { needs, takes } = command
  if (needs !== undefined && positionals.length === 0)
    throw new UsageError(`${needs}\n${usageOf(name, command)}`)
  const extra = positionals[takes]
  if (extra !== undefined)
    throw new UsageError(`"${showShort(extra)}" is one argument too many.\n${usageOf(name, command)}`)
}

function usageOf(name: string, { usage }: Command): string {
  const own = usage.includes('[options]') ? usage : `${usage} [options]`.trimStart()
  return `Usage: handrail ${name} ${own}\n"handrail help ${name}" shows them.`
}

function parse(name: string, argv: readonly string[], own: Options): CommandLine {
  const options = toParseOptions({ ...own, ...commonOptions })
  try {
    const { positionals, values } = parseArgs({
      args: [...argv],
      options,
      allowPositionals: true,
      strict: true,
    })
    return { positionals, options: values }
  } catch (error) {
    const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    const what = message.split('. To specify')[0] ?? message
    const wanted = /^Unknown option '-+([^']*)'/.exec(what)?.[1]
    const hint = wanted === undefined ? '' : suggest(wanted, Object.keys(options), '--')
    throw new UsageError(`${showShort(what)}.${hint} "handrail help ${name}" shows all options.`)
  }
}

function toParseOptions(options: Options): Record<string, { type: 'boolean' | 'string'; short?: string }> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { takes, short }]) => [
      name,
      { type: takes === undefined ? 'boolean' : 'string', ...(short !== undefined && { short }) },
    ]),
  )
}

function suggest(word: string, known: readonly string[], before = ''): string {
  const [nearest] = nearestNames(word, known, 1)
  return nearest === undefined ? '' : ` Did you mean "${before}${nearest}"?`
}

function showShort(text: string): string {
  return showLine(shorten(text, 100))
}

/** `handrail help`, `handrail help <command>`, `handrail help <command> <verb>`. */
async function printHelp([name, word]: readonly string[]): Promise<number> {
  if (name === undefined) return printOverview(process.stdout, exitCodes.ok)
  const found = await findCommand(name)
  const width = pageWidth(process.stdout)
  if (!('verbs' in found)) return print(commandPage(name, found, width))
  return print(
    word === undefined
      ? groupPage(name, found, width)
      : commandPage(`${name} ${word}`, findVerb(name, found, word), width),
  )
}

function print(text: string): number {
  process.stdout.write(text)
  return exitCodes.ok
}

async function printOverview(stream: NodeJS.WriteStream, exitCode: number): Promise<number> {
  stream.write(overviewPage(await loadAll(), pageWidth(stream)))
  return exitCode
}

async function loadAll(): Promise<Readonly<Record<string, Command | CommandGroup>>> {
  const loaded = Object.entries(commands).map(async ([name, load]) => [name, await load()] as const)
  return Object.fromEntries(await Promise.all(loaded))
}
