import { isTrustworthyUrl } from '../kit/match/loopback.ts'
import type { Configuration, ProjectConfiguration } from '../contract/configuration.ts'
import type { CommandHook } from '../contract/hook.ts'
import type { Issue } from '../contract/base/json.ts'
import type { SandboxKind } from '../contract/services/sandbox.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { poolId, poolIdForm } from '../kit/match/pool-id.ts'
import { checkA2a } from './check-a2a.ts'
import { checkAgentModels } from './check-agent-models.ts'
import { checkCommands } from './check-commands.ts'
import { checkLanguageServers } from './check-language-servers.ts'
import { checkEach } from './base/check-lists.ts'
import { checkRules } from './policy/check-rules.ts'
import { checkModelSettings } from './check-model-settings.ts'
import { checkTriggers } from './check-triggers.ts'
import { checkWebSearch } from './check-web-search.ts'
import { findReachFlaw, findPrivateHostFlaw, findToolFlaw } from './base/find-flaw.ts'

/** What a schema cannot say of a person's configuration that fits it. */
export function checkConfiguration(configuration: Configuration): Issue[] {
  return [
    ...checkTools(configuration.allowedTools, '/allowedTools'),
    ...checkTools(configuration.disallowedTools, '/disallowedTools'),
    ...checkTools(configuration.deferredTools, '/deferredTools'),
    ...checkEach(configuration.network?.hosts, '/network/hosts', {
      code: 'never_matches',
      find: findReachFlaw,
    }),
    ...checkEach(configuration.network?.privateHosts, '/network/privateHosts', {
      code: 'never_matches',
      find: findPrivateHostFlaw,
    }),
    ...checkCommands(configuration.commands),
    ...checkLanguageServers(configuration.languageServers),
    ...checkA2a(configuration.a2a),
    ...checkWebSearch(configuration.webSearch),
    ...checkRegistry(configuration.mcpRegistry),
    ...checkTriggers(configuration.triggers),
    ...checkModelSettings(configuration.modelSettings),
    ...checkSandbox(configuration.sandbox),
    ...checkAgentModels(configuration.agents?.models),
    ...checkWorkerPools(configuration.workerPools),
    ...(configuration.hooks ?? []).flatMap((hook, index) =>
      checkHook(hook).map((issue) => ({ ...issue, pointer: `/hooks/${index}${issue.pointer}` })),
    ),
  ]
}

const sandboxKinds: readonly string[] = ['bubblewrap', 'sandbox-runtime', 'host'] satisfies SandboxKind[]

/** The short form is a text, of which the schema says nothing. */
function checkSandbox(sandbox: Configuration['sandbox']): Issue[] {
  if (typeof sandbox !== 'string' || sandboxKinds.includes(sandbox)) return []
  return [
    {
      pointer: '/sandbox',
      code: 'unknown_value',
      message: `"${String(sandbox)}" is none of ${sandboxKinds.join(', ')}.`,
    },
  ]
}

function checkWorkerPools(pools: Configuration['workerPools'] = {}): Issue[] {
  return Object.keys(pools)
    .filter((id) => !poolId.test(id))
    .map((id) => ({ pointer: pointerTo('/workerPools', id), code: 'invalid_id', message: poolIdForm }))
}

/** What a schema cannot say of a hook that fits it: one that no tool could meet would guard nothing. */
export function checkHook(hook: CommandHook): Issue[] {
  return checkTools(hook.tools, '/tools')
}

/** What a schema cannot say of a project's own file that fits it. */
export function checkProject(project: ProjectConfiguration): Issue[] {
  return [
    ...checkTools(project.disallowedTools, '/disallowedTools'),
    ...checkRules(project.rules ?? [], { pointer: '/rules', layer: 'project', allowBypass: 'unknown' }),
  ]
}

function checkTools(patterns: readonly string[] | undefined, pointer: string): Issue[] {
  return checkEach(patterns, pointer, { code: 'never_matches', find: findToolFlaw })
}

/** What it says is run by people here: it comes over https, or from this machine. */
function checkRegistry(address: string | undefined): Issue[] {
  if (address === undefined || (URL.canParse(address) && isTrustworthyUrl(address))) return []
  const message = `"${address}" is not the address of a registry: it begins with https://, or is on this machine.`
  return [{ pointer: '/mcpRegistry', code: 'invalid_url', message }]
}
