import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { findPart } from '../../config/gateway-parts.ts'
import { rememberStart } from '../../config/last-start.ts'
import { loadConfiguration, type LoadedConfiguration } from '../../config/load-configuration.ts'
import { loadUpstreams, upstreamSecrets } from '../../config/servers/load-upstreams.ts'
import type { Approver } from '../../contract/approval.ts'
import type { AgentsConfiguration, Configuration, toolGroups } from '../../contract/configuration.ts'
import type { ElicitationHandler } from '../../contract/base/elicitation.ts'
import type { MemoryOptions } from '../../contract/services/memory.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Policy } from '../../contract/policy.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { CallObserver } from '../../contract/telemetry.ts'
import type { ToolFeed } from '../../contract/mcp/tool-feed.ts'
import type { ToolSource } from '../../contract/tool/tool.ts'
import { createAgentDefinitionRegistry } from '../../compose/sources/agent-definition-registry.ts'
import { agentDefinitionTools } from '../../compose/sources/agent-definition-tools.ts'
import { artifactTools } from '../../compose/sources/artifact-tools.ts'
import { capletTools } from '../../compose/sources/caplet-tools.ts'
import { codeTools } from '../../compose/sources/code-tools.ts'
import { assembleRuntime } from '../../compose/assemble-runtime.ts'
import { declarativeTools } from '../../compose/sources/declarative-tools.ts'
import { jobTools } from '../../compose/sources/job-tools.ts'
import { searchTools } from '../../compose/sources/search-tools.ts'
import { mcpTools } from '../../compose/sources/mcp-tools.ts'
import { expandHome, realPlace } from '../../compose/options/resolve-places.ts'
import type { AgentOptions } from '../../compose/options/agent-options.ts'
import type { RuntimeOptions } from '../../compose/options/runtime-options.ts'
import { delegationTools } from '../../compose/sources/delegation-tools.ts'
import { memoryTools } from '../../compose/sources/memory-tools.ts'
import { planTools } from '../../compose/sources/plan-tools.ts'
import { codeModeTools } from '../../compose/sources/code-mode-tools.ts'
import { scheduleTools } from '../../compose/sources/schedule-tools.ts'
import { skillTools } from '../../compose/sources/skill-tools.ts'
import { taskTools } from '../../compose/sources/task-tools.ts'
import { settingTools } from '../../compose/sources/setting-tools.ts'
import { triggerTools } from '../../compose/sources/trigger-tools.ts'
import { userTools } from '../../compose/sources/user-tools.ts'
import { webTools } from '../../compose/sources/web-tools.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import type { CommandLine } from '../base/command.ts'
import { domainSecrets, openDomains } from './open-domains.ts'
import { lookAtStore } from './look-at-store.ts'
import { noteSecrets, readSecrets } from './named-secrets.ts'
import { openSkills } from './open-skills.ts'
import { showLine } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'

/** Where a person's and a project's things are. */
export interface Places {
  home: string
  project: string
  store: string
  /** The tools that the person declares. */
  tools: string
  /** The caplets that are installed. */
  caplets: string
  /** The MCP servers whose tools the person imports. */
  mcp: string
  /** What language models cost. */
  prices: string
  /** The keys that sign the evidence. */
  keys: string
  /** What calls replaced or removed. */
  history: string
}

/** The home and project of a command line: option, then environment, then default. */
export function findPlaces({ options }: CommandLine): Places {
  const project = resolve(readPlace(options, 'project') ?? currentFolder())
  const home = findHome(options, project)
  return {
    home,
    project,
    store: join(home, 'store.db'),
    tools: join(home, 'tools'),
    caplets: join(home, 'caplets'),
    mcp: findPart(home, 'mcpServers').path,
    prices: join(home, 'prices.json'),
    keys: join(home, 'keys'),
    history: join(home, 'history'),
  }
}

/** The home of who names none. */
export function defaultHome(): string {
  return join(homedir(), '.handrail')
}

/** A home that hangs on the current folder would be another one for each, and one in the project is reached by what works there. */
function findHome(options: CommandLine['options'], project: string): string {
  const named = readPlace(options, 'home')
  if (named === undefined) return checkHome(defaultHome())
  if (typeof options['home'] !== 'string' && !isAbsolute(expandHome(named)))
    throw new UsageError(
      `HANDRAIL_HOME is "${showLine(named)}", which is another folder wherever it is used. Write it from "/" or "~/" on.`,
    )
  const home = resolve(expandHome(named))
  if (isInside(realPlace(home), realPlace(project)))
    throw new UsageError(
      `The home folder "${showLine(home)}" lies in the project "${showLine(project)}", where the policy and the keys could be reached. Name one outside of it with HANDRAIL_HOME or --home.`,
    )
  return checkHome(home)
}

/** In a file, or where it may not be read, no policy could be found. */
function checkHome(home: string): string {
  if (isFile(home) || isFile(dirname(home)))
    throw new UsageError(
      `The home folder "${showLine(home)}" is a file, or lies in one. Name a folder with HANDRAIL_HOME or --home.`,
    )
  try {
    if (existsSync(home)) accessSync(home, constants.R_OK | constants.X_OK)
    else statSync(home)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EACCES' || code === 'EPERM')
      throw new UsageError(
        `The home folder "${showLine(home)}" cannot be read: ${describeFileError(error)}. Mend them, or name another one with HANDRAIL_HOME or --home.`,
      )
  }
  return home
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Under `npm run`, the current folder is where npm was called, not where the package lies. */
function currentFolder(): string {
  const called = process.env['npm_lifecycle_event'] === undefined ? undefined : process.env['INIT_CWD']
  return called ?? process.cwd()
}

function readPlace(options: CommandLine['options'], name: 'home' | 'project'): string | undefined {
  const value = options[name]
  if (value === '') throw new UsageError(`--${name} needs the path of a folder.`)
  return typeof value === 'string' ? value : readEnvironment(`HANDRAIL_${name.toUpperCase()}`)
}

/** An environment variable that is set to something. */
export function readEnvironment(name: string): string | undefined {
  const value = process.env[name]
  return value === '' ? undefined : value
}

/** How the runtime of a command line is put together. */
interface WireChoices {
  /** Answers what calls ask before they go on. */
  elicit?: ElicitationHandler | undefined
  /** For a command that only the operator runs, and no caller. */
  operator?: boolean
  /** Whether anything is written. Default true. */
  keep?: boolean
  observers?: readonly CallObserver[]
  /** Environment variables whose values are kept out of every text, beside those that the configuration names. */
  secrets?: readonly string[]
  /** Told of everything that happens. */
  onEvent?: RuntimeOptions['onEvent']
  /** Default: the standard error output. */
  onError?: RuntimeOptions['onError']
  /**
   * MCP servers: those that were seen before, with what is remembered of their tools (default); or the others too, which are connected to
   * then. Or a feed of the command's own.
   */
  upstreams?: 'known' | 'met' | ToolFeed
  /** Whether the cards of agents of other domains that were never seen are read. Default: if MCP servers are `met`. */
  meetAgents?: boolean
  /**
   * It decides about the calls of an agent that runs them itself: that has a shell whatever is configured, and nothing of what is known of MCP servers
   * is true of its own.
   */
  observes?: boolean
  /** What agents work with that calls and schedules start. */
  agentModel?: AgentModelChoice | undefined
  /** Loads the models of the configuration that calls may name. Default: they name none, as the command starts no agents. */
  namedModels?: LoadNamedModels
}

/** With what agents work, and what it costs if the person's prices say so. */
export type AgentModelChoice = Pick<AgentOptions, 'model' | 'price'>

/** Loads models by the names that calls use. */
export type LoadNamedModels = (
  models: NonNullable<AgentsConfiguration['models']>,
) => Promise<Pick<AgentOptions, 'models' | 'prices'>>

/**
 * The runtime of a command line: the person's configuration and policy, the built-in tools, and the store in their home. With
 * `keep: false`, for commands that only look, nothing is written anywhere.
 */
export async function wireRuntime(
  places: Places,
  approve: Approver | undefined,
  {
    elicit,
    operator = false,
    keep = true,
    observers,
    secrets = [],
    onEvent,
    onError,
    upstreams = 'known',
    observes = false,
    agentModel,
    meetAgents = upstreams === 'met',
    namedModels,
  }: WireChoices = {},
): Promise<Runtime> {
  const { options, said, configured, domains, wanted } = readOptions(places, undefined, observes)
  const named = configured && (await namedModels?.(configured))
  if (keep) {
    makeHome(places.home)
    rememberStart(places.home, said)
  }
  const feed =
    typeof upstreams === 'object' ? upstreams : mcpTools({ path: places.mcp, meet: upstreams === 'met' })
  const whole: RuntimeOptions = {
    ...options,
    secrets: { ...readSecrets(secrets), ...options.secrets },
    feeds: observes
      ? []
      : [feed, ...(feed.id === 'a2a' ? [] : openDomains(places, { a2a: domains, meet: meetAgents }))],
    store: keep ? { path: places.store } : await lookAtStore(places.store),
    ...(keep && {
      archive: { dir: places.home },
      signing: { dir: places.keys },
      undo: !observes && toUndo(options.undo, places.history),
    }),
    // The agent isolates what it runs; here nothing is run, and so nothing has to be isolated.
    ...(observes && { sandbox: 'host' }),
    agents: { ...options.agents, ...agentModel, ...named },
    ...(approve !== undefined && { approve }),
    ...(elicit !== undefined && { elicit }),
    ...(observers !== undefined && { observers }),
    ...(onEvent !== undefined && { onEvent }),
    ...(onError !== undefined && { onError }),
  }
  const runtime = await assembleRuntime(whole, whole.hooks, operator ? 'operator' : 'command line')
  noteSecrets(runtime, [...secrets, ...wanted])
  return runtime
}

/**
 * What decides about the calls of a command line: the person's configuration and policy, or this one in its place, the project's own, and the built-in
 * tools.
 */
export function wireOptions(places: Places, instead?: Policy, observes = false): RuntimeOptions {
  return readOptions(places, instead, observes).options
}

/** What a command line is wired with: the models are loaded only if agents may start, and the other domains only if their tools are of use. */
interface WiredOptions {
  readonly options: RuntimeOptions
  /** What the next start must find too. */
  readonly said: LoadedConfiguration['said']
  readonly configured: AgentsConfiguration['models']
  readonly domains: Configuration['a2a']
  /** The environment variables of secrets. */
  readonly wanted: readonly string[]
}

function readOptions(places: Places, instead: Policy | undefined, observes: boolean): WiredOptions {
  const checker = createSchemaChecker()
  const { configuration, policy, project, said, notices } = loadConfiguration(places, checker, instead)
  for (const notice of notices) process.stderr.write(`handrail: ${showLine(notice)}\n`)
  const {
    $schema: _,
    mcpRegistry: _registry,
    webSearch,
    triggers,
    modelSettings,
    shell: hasShell,
    commands,
    languageServers,
    a2a: domains,
    toolGroups,
    agents: { models: configured } = {},
    workerPools,
    skills,
    caplets,
    codeMode,
    memory: memoryChoices,
    ...options
  } = configuration
  const shell = observes ? true : hasShell
  const memory: MemoryOptions = { dir: join(places.home, 'memory'), ...memoryChoices }
  // An agent has such tools of its own.
  const groups = observes ? [] : toolGroups
  const own = ownSources({
    webSearch,
    triggers,
    modelSettings,
    shell,
    commands,
    languageServers,
    toolGroups: groups,
    codeMode,
    memory,
  })
  const declared = inOneLine(declarativeTools({ dir: places.tools, tools: own }), places.tools)
  const sources = observes ? own : [...own, declared, capletTools({ dir: places.caplets, ...caplets })]
  const wanted = [
    ...(webSearch?.secret === undefined ? [] : [webSearch.secret]),
    ...sources.flatMap((source) =>
      source.list().flatMap(({ definition }) => definition.capabilities.secrets),
    ),
    ...domainSecrets(domains),
    ...upstreamSecrets(loadUpstreams(places.mcp, { checker: createSchemaChecker(), home: homedir() })),
  ]
  const wired: RuntimeOptions = {
    ...options,
    project: places.project,
    projectConfiguration: project,
    policy,
    memory,
    tools: sources,
    ...(workerPools !== undefined && { agents: { workerPools } }),
    services: {
      agentDefinitions: createAgentDefinitionRegistry({ home: places.home }),
      skillRegistry: openSkills(places, skills),
    },
    secrets: readSecrets(wanted),
    sensitivePaths: [...(configuration.sensitivePaths ?? []), places.home],
  }
  return { options: wired, said, configured, domains, wanted }
}

function toUndo(undo: RuntimeOptions['undo'], dir: string): RuntimeOptions['undo'] {
  return undo === false ? false : { ...(typeof undo === 'object' && undo), dir }
}

/** The same tools; of several files that are left out only which ones, as each command would say all their issues again. */
function inOneLine(source: ToolSource, folder: string): ToolSource {
  const left = source.quarantined?.() ?? []
  if (left.length < 2) return source
  const names = left.map(({ tool }) => tool).join(', ')
  const message = `${left.length} files of "${folder}" are left out, the others are not: ${names}. "handrail tools check" says what is wrong with each.`
  return { ...source, quarantined: () => [{ tool: 'tools', message }] }
}

/** What the person configured of the tools that come with Handrail. */
type OwnToolOptions = {
  [
    Name in
      | 'webSearch'
      | 'triggers'
      | 'modelSettings'
      | 'shell'
      | 'commands'
      | 'languageServers'
      | 'toolGroups'
      | 'codeMode'
  ]?: Configuration[Name] | undefined
} & { memory?: MemoryOptions }

/** The tools that come with Handrail. */
export function ownSources({
  webSearch,
  triggers,
  modelSettings,
  shell,
  commands,
  languageServers,
  toolGroups = [],
  codeMode,
  memory,
}: OwnToolOptions = {}): ToolSource[] {
  return [
    artifactTools(),
    codeTools({ shell, commands, languageServers }),
    jobTools(),
    searchTools(),
    webTools({ search: webSearch }),
    ...(modelSettings === undefined ? [] : [settingTools({ settings: modelSettings })]),
    ...(triggers === undefined ? [] : [triggerTools({ triggers })]),
    ...[...new Set(toolGroups)].flatMap((group) =>
      groupSources[group].map((open) => open({ memory, codeMode })),
    ),
  ]
}

const groupSources = {
  agent: [agentDefinitionTools, delegationTools],
  code_mode: [({ codeMode }) => codeModeTools(codeMode === undefined ? {} : { limits: codeMode })],
  memory: [({ memory }) => memoryTools(memory)],
  plan: [planTools],
  schedule: [scheduleTools],
  skill: [skillTools],
  task: [taskTools],
  user: [userTools],
} as const satisfies {
  readonly [group in (typeof toolGroups)[number]]: readonly ((
    given: Pick<OwnToolOptions, 'memory' | 'codeMode'>,
  ) => ToolSource)[]
}

/** Makes the home folder, for its owner only. */
export function makeHome(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new SetupError(
      'store_unusable',
      `The home folder "${home}" cannot be made (${code}). Name another one with HANDRAIL_HOME or --home.`,
    )
  }
}
