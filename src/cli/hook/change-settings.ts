import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { quoteArgv } from '../../kit/text/quote-argv.ts'
import { commandName } from '../base/command-name.ts'
import type { CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { openFile, writeChange } from '../../config/files/settings-file.ts'
import { isWanted, refused, say } from '../files/change-file.ts'
import { findPlaces, readEnvironment } from '../setup/wire.ts'
import type { HookAgent } from './base/agent.ts'
import { hookAgents } from './agents.ts'
import { saysNothing, withHook, withoutHook } from './edit-settings.ts'

/** `handrail hook install` */
export async function installHook(given: CommandLine): Promise<number> {
  const agent = await findAgent(given)
  const file = openFile(findSettings(agent, given))
  const after = withHook(file.text, agent, { path: file.path, command: toCommand(agent, given) })
  if (after === file.text) return say(`${agent.title} has the hook already, in "${file.path}".`)
  if (!(await isWanted(file, { after }, given))) return refused()
  writeChange(file, after, findPlaces(given).home)
  say(`${agent.title} asks Handrail from its next session on, as "${file.path}" says.`)
  return agent.settings.next === undefined ? exitCodes.ok : say(agent.settings.next)
}

/** `handrail hook uninstall` */
export async function uninstallHook(given: CommandLine): Promise<number> {
  const agent = await findAgent(given)
  const file = openFile(findSettings(agent, given))
  const after = file.text === undefined ? undefined : withoutHook(file.text, agent, { path: file.path })
  if (after === undefined || after === file.text) return say(`"${file.path}" has no hook of Handrail.`)
  if (!(await isWanted(file, { after }, given))) return refused()
  writeChange(file, saysNothing(after, agent, file.path) ? undefined : after, findPlaces(given).home)
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
