import type { PolicyChange } from '../contract/runtime.ts'
import { canonicalJson } from '../kit/json/canonical-json.ts'
import type { LoadedConfiguration } from './load-configuration.ts'

/** What a living runtime takes over from newly loaded files. What a file does not say any more goes back to its default. */
export function toPolicyChange({
  configuration,
  policy,
  project,
}: LoadedConfiguration): Required<PolicyChange> {
  const { limits = {}, allowedTools = [], disallowedTools = [], sensitivePaths = [] } = configuration
  return { policy, projectConfiguration: project, limits, allowedTools, disallowedTools, sensitivePaths }
}

const changeable = new Set(['$schema', 'limits', 'allowedTools', 'disallowedTools', 'sensitivePaths'])

/** Fields of the configuration that differ and that a living runtime cannot take over: they wait for the next start. */
export function findWaitingFields(before: LoadedConfiguration, after: LoadedConfiguration): string[] {
  const fields = { ...before.configuration, ...after.configuration }
  const valueOf = ({ configuration }: LoadedConfiguration, field: string) =>
    canonicalJson(Reflect.get(configuration, field))
  return Object.keys(fields)
    .filter((field) => !changeable.has(field) && valueOf(before, field) !== valueOf(after, field))
    .sort()
}
