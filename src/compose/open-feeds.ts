import { ToolFailure } from '../contract/base/errors.ts'
import type { FeedChange, FeedHost, OpenFeed, ToolFeed } from '../contract/mcp/tool-feed.ts'
import type { ToolSource } from '../contract/tool/tool.ts'
import type { ChangingRegistry } from '../registry/create-registry.ts'
import type { GrowingRedactor } from '../kit/secrets/growing-redactor.ts'
import type { TenantContexts } from './tenant-contexts.ts'
import { createDoor } from '../sandboxes/network/create-door.ts'
import type { OnError } from './error-log.ts'
import { createPrograms } from './open-program.ts'
import type { RuntimeStops } from './stops/create-stops.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'

interface Surroundings {
  registry: ChangingRegistry
  tenants: TenantContexts
  stops: Pick<RuntimeStops, 'find'>
  options: RuntimeOptions
  redactor: GrowingRedactor
  onError: OnError
}

/** Opens what brings tools while the runtime lives. */
export async function openFeeds(feeds: readonly ToolFeed[], about: Surroundings): Promise<OpenFeed[]> {
  if (feeds.length === 0) return []
  const host = createFeedHost(about)
  return Promise.all(feeds.map((feed) => feed.open(host)))
}

function createFeedHost({ registry, tenants, stops, options, redactor, onError }: Surroundings): FeedHost {
  const { secrets = {}, lookup } = options
  return {
    secret: (name) => (Object.hasOwn(secrets, name) ? secrets[name] : undefined),
    programs: createPrograms(tenants),
    web: { reach: (url) => createDoor(url, { ...options.network, lookup }) },
    remembered: (source) => registry.remembered(source),
    knowsOf: (source) => registry.knowsOf(source),
    change: (change) => takeOver(registry, change),
    setOutage: (outage) => registry.setOutage(outage),
    refuseIfPaused(about) {
      const paused = stops.find({ ...about, tool: undefined })
      if (paused !== undefined) throw new ToolFailure(paused)
    },
    hide: (about, hidden) => redactor.hide(about, hidden),
    redact: (text) => redactor.text(text),
    redactJson: (value) => redactor.json(value),
    report: (tool, message) => onError({ call: '', tool, cause: new Error(redactor.text(message)) }),
  }
}

async function takeOver(registry: ChangingRegistry, change: FeedChange): Promise<void> {
  const { source, tools, faulty, removed, tenants } = change
  const scopes = tenants === undefined ? {} : { tenants }
  const whole: ToolSource = { ...source, list: () => tools, quarantined: () => faulty }
  const there = registry.namesOf(source.id, tenants)
  const leaving = removed.filter((name) => there.has(name))
  if (leaving.length > 0) await registry.remove(leaving, { ...scopes, by: source.id })
  if (tools.length > 0 || faulty.length > 0)
    await registry.register([whole], { ...scopes, update: true, by: source.id })
}
