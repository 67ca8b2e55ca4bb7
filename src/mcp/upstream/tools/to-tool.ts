import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Plan } from '../../../contract/tool/plan.ts'
import type { Tool, ToolContext } from '../../../contract/tool/tool.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { hostOf } from '../../../kit/match/host-of.ts'
import { showControls } from '../../../kit/text/show-controls.ts'
import { adviseOnFault } from '../base/advise-on-fault.ts'
import { describePlace } from '../base/describe-place.ts'
import type { ImportedTool } from '../base/import-tool.ts'
import { nameLine } from '../../../kit/text/one-line.ts'
import { toImportedDefinition } from './to-imported-definition.ts'
import { toOutput } from './to-output.ts'
import { toSourceName } from '../base/tool-names.ts'
import type { Offer, Upstream } from '../base/upstream.ts'

/** An imported tool. Its call goes to its server, as long as the server says of it what it said when it was approved. */
export function toTool(imported: ImportedTool, upstream: Upstream): Tool {
  const definition = toImportedDefinition(imported, upstream.server)
  const advise = (texts: readonly string[]): string => adviseOnFault(texts, upstream.server)
  const about = { server: upstream.server.name, source: imported.name, advise }
  return {
    definition,
    plan(input, { principal }) {
      const refused = upstream.refusal(principal.tenant)
      if (refused !== undefined) throw refused
      refuseOther(upstream.offer(principal.tenant, imported), imported)
      return toPlan(imported, upstream, readJsonObject(input))
    },
    async run(input, context) {
      const result = await upstream.call(imported, readJsonObject(input), {
        principal: context.principal,
        signal: context.signal,
        onProgress: toProgress(context),
        asker: context,
        guard: (offer) => refuseOther(offer, imported),
      })
      return toOutput(result, about)
    },
  }
}

function refuseOther(offer: Offer, { name, rawName }: ImportedTool): void {
  if (offer === 'changed')
    throw new ToolFailure({
      code: 'POLICY.DENY_TOOL',
      reason: 'definition_pending',
      message: `"${name}" cannot be used: its definition changed at its source and waits for the approval of the operator. Go on without it.`,
      data: { because: 'definition_pending' },
    })
  if (offer === 'gone')
    throw new ToolFailure({
      code: 'POLICY.DENY_TOOL',
      reason: 'tool_not_available',
      message: `"${name}" cannot be used: its server has no tool "${nameLine(rawName)}" any more. Go on without it.`,
      data: { because: 'gone' },
    })
}

function toPlan({ rawName }: ImportedTool, { server }: Upstream, input: JsonObject): Plan {
  const { transport } = server
  return {
    operations: transport.kind === 'http' ? [toOperation(transport.url)] : [],
    scope: scopeOf(server),
    preview: {
      kind: 'text',
      title: `Call ${nameLine(rawName)} of the MCP server ${showControls(server.name)}`,
      body: [...placeOf(server), showControls(JSON.stringify(input, null, 2))].join('\n'),
    },
  }
}

/** Made once for a server, as it stands in the preview of each of its calls. */
const places = new WeakMap<UpstreamServer, readonly string[]>()

function placeOf(server: UpstreamServer): readonly string[] {
  let place = places.get(server)
  if (place === undefined) places.set(server, (place = describePlace(server)))
  return place
}

/** What a yes for the session covers beside the tool: its server, with the hosts that this one may reach. */
function scopeOf({ name, hosts }: UpstreamServer): string {
  return [toSourceName(name), ...hosts.map((host) => (host === '*' ? 'any host' : host))].join(', ')
}

function toOperation(address: string): Plan['operations'][number] {
  const url = new URL(address)
  return { kind: 'net', host: hostOf(url), url: url.href }
}

/** More often than this, no person could follow. */
const progressEveryMs = 20

/** A server may say more than anybody wants to hear; the last word always comes through. */
function toProgress(
  context: ToolContext,
): (update: { message?: string; done?: number; total?: number }) => void {
  let last = -Infinity
  return (update) => {
    const now = performance.now()
    const isLast = update.total !== undefined && update.done === update.total
    if (now - last < progressEveryMs && !isLast) return
    last = now
    context.progress(update)
  }
}
