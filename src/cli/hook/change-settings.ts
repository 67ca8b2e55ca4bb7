import { mkdirSync, readFileSync, realpathSync, rmSync, statSync, lstatSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { SetupError } from '../../contract/base/errors.ts'
import { previewDiff } from '../../kit/diff/preview-diff.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'
import { quoteArgv } from '../../kit/text/quote-argv.ts'
import { writeWhole } from '../../kit/write-whole.ts'
import { commandName } from '../base/command-name.ts'
import type { CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine, writeText } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { readEnvironment } from '../setup/wire.ts'
import { askYesOrNo } from '../terminal/ask-for-choice.ts'
import { openTerminal } from '../terminal/terminal.ts'
import { listenForStop } from '../terminal/stop-signal.ts'
import type { HookAgent } from './base/agent.ts'
import { hookAgents } from './agents.ts'
import { saysNothing, withHook, withoutHook } from './edit-settings.ts'

/** `handrail hook install` */
export async function installHook(given: CommandLine): Promise<number> {
  const agent = await findAgent(given)
  const file = openSettings(findSettings(agent, given))
  const after = withHook(file.text, agent, { path: file.path, command: toCommand(agent, given) })
  if (after === file.text) return say(`${agent.title} has the hook already, in "${file.path}".`)
  if (!(await isWanted(file, after, given))) return refused()
  write(file, after)
  say(`${agent.title} asks Handrail from its next session on, as "${file.path}" says.`)
  return agent.settings.next === undefined ? exitCodes.ok : say(agent.settings.next)
}

/** `handrail hook uninstall` */
export async function uninstallHook(given: CommandLine): Promise<number> {
  const agent = await findAgent(given)
  const file = openSettings(findSettings(agent, given))
  const after = file.text === undefined ? undefined : withoutHook(file.text, agent, { path: file.path })
  if (after === undefined || after === file.text) return say(`"${file.path}" has no hook of Handrail.`)
  if (!(await isWanted(file, after, given))) return refused()
  write(file, saysNothing(after, agent, file.path) ? undefined : after)
  return say(`${agent.title} does not ask Handrail any more, from its next session on.`)
}

async function findAgent({ positionals: [name = ''] }: CommandLine): Promise<HookAgent> {
  const load = Object.hasOwn(hookAgents, name) ? hookAgents[name] : undefined
  if (load !== undefined) return load()
  const known = Object.keys(hookAgents).join(', ')
  throw new UsageError(
    `"${showLine(name.slice(0, 100))}" is no agent that is known here. Name one of: ${known}.`,
  )
}

/** The person's, or that of the project that is named. */
function findSettings({ settings }: HookAgent, { options }: CommandLine): string {
  const project = options['project']
  if (typeof project === 'string') return join(resolve(project), settings.project)
  const { path, variable } = settings.user
  const folder = variable === undefined ? undefined : readEnvironment(variable)
  return folder === undefined ? join(homedir(), path) : resolve(folder, ...path.split('/').slice(1))
}

/** What the agent runs. */
function toCommand({ name }: HookAgent, { options }: CommandLine): string {
  const home = options['home'] ?? readEnvironment('HANDRAIL_HOME')
  const kept = ['tenant', 'actor', 'role', 'mode'].flatMap((option) => {
    const value = options[option]
    return typeof value === 'string' ? [`--${option}`, value] : []
  })
  const more = [
    ...kept,
    ...(typeof home === 'string' ? ['--home', resolve(home)] : []),
    ...(options['fail-open'] === true ? ['--fail-open'] : []),
  ]
  return `${commandName()} ${quoteArgv(['hook', name, ...more])}`
}

interface SettingsFile {
  /** As it is named. */
  readonly path: string
  /** Where a link leads. */
  readonly target: string
  /** Undefined if there is none. */
  readonly text: string | undefined
}

function openSettings(path: string): SettingsFile {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
      return { path, target: path, text: undefined }
    const target = realpathSync(path)
    return {
      path,
      target,
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(target)),
    }
  } catch (error) {
    throw new SetupError(
      'invalid_configuration',
      `"${path}" cannot be read: ${describeFileError(error)}. Nothing was changed.`,
    )
  }
}

/** Shows the change, and asks for it. */
async function isWanted(
  { path, text }: SettingsFile,
  after: string,
  { options }: CommandLine,
): Promise<boolean> {
  writeText(process.stdout, previewDiff({ name: path.replace(/^\//, ''), before: text, after }).body)
  if (options['yes'] === true) return true
  const stop = listenForStop()
  const terminal = openTerminal(() => stop.stop())
  try {
    if (terminal === undefined)
      throw new UsageError(
        'No person can be asked here. Look at the change above, and add --yes. Nothing was changed.',
      )
    return await terminal.talk(stop.signal, (person) => askYesOrNo(person, 'Write that? [y/n] '))
  } finally {
    stop.release()
  }
}

/** Writes the file as a whole, or removes it. What it says by now must be what was shown. */
function write(file: SettingsFile, after: string | undefined): void {
  const { path, target } = file
  if (openSettings(path).text !== file.text)
    throw new SetupError(
      'invalid_configuration',
      `"${path}" was changed meanwhile. Nothing was changed: try again.`,
    )
  try {
    if (after === undefined) return rmSync(target)
    mkdirSync(dirname(target), { recursive: true })
    const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o600
    writeWhole(target, { text: after, mode: mode & 0o777 })
  } catch (error) {
    throw new SetupError(
      'invalid_configuration',
      `"${path}" cannot be written: ${describeFileError(error)}. Nothing was changed.`,
    )
  }
}

function refused(): number {
  say('Nothing was changed.')
  return exitCodes.denied
}

function say(text: string): number {
  process.stderr.write(`handrail: ${showLine(text)}\n`)
  return exitCodes.ok
}
