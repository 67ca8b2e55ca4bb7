import { isSpecType, type ListResourcesResult, type Resource } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import { dropInvisible } from '../../../kit/text/drop-invisible.ts'
import { isJsonObject } from '../../../kit/json/is-json-object.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { withoutOwnMeta } from '../../translate/foreign-meta.ts'
import { toServerUri } from '../../translate/server-uri.ts'
import { resourceMetaKey } from '../../translate/to-mcp-content.ts'
import { callQuietly, type Asking } from './call-tool.ts'
import type { KeptArtifact } from '../session/kept-artifacts.ts'
import { readingTools } from '../session/reading-tools.ts'

/** Key of what is missing in a list, and why, in its `_meta`. */
const leftOutMetaKey = 'handrail/left_out'

/**
 * What a client can read: what its calls left, the newest first, then what the servers have. These are asked by a call, which the policy
 * decides about, without a question to anybody: clients list by themselves. Where it fails, or one of the servers does, the rest is listed,
 * and the list says so.
 */
export async function listResources(asking: Asking): Promise<ListResourcesResult> {
  const { client } = asking
  const own = client.has(readingTools.artifacts) ? client.artifacts.list().map(toResource) : []
  if (!client.has(readingTools.listServers) || !client.has(readingTools.servers)) return { resources: own }
  const result = await callQuietly(asking, { tool: readingTools.listServers, input: {} })
  const missing = toMissing(result)
  return {
    resources: [...own, ...entriesOf(result).flatMap(toServerResource)],
    ...(missing.length > 0 && { _meta: { [leftOutMetaKey]: missing } }),
  }
}

function toResource({ uri, artifact, tool, at }: KeptArtifact): Resource {
  return {
    uri,
    name: artifact.name ?? `output of ${tool}`,
    description: `What a call of ${tool} left.`,
    mimeType: artifact.mimeType,
    size: artifact.bytes,
    annotations: { lastModified: new Date(at).toISOString() },
  }
}

function entriesOf({ data }: ToolResult): unknown[] {
  const entries = isPlainObject(data) ? data['resources'] : undefined
  return Array.isArray(entries) ? entries : []
}

/** As the server says it, under a URI that leads to that server, and without invisible characters. */
function toServerResource(entry: unknown): Resource[] {
  if (!isJsonObject(entry)) return []
  const { server, uri, name, title, description, _meta, ...said } = withoutOwnMeta(entry)
  if (typeof server !== 'string' || typeof uri !== 'string') return []
  const from = `[MCP server ${JSON.stringify(dropInvisible(server))}]`
  const known: Resource = {
    uri: toServerUri({ server, uri }),
    name: dropInvisible(typeof name === 'string' ? name : uri),
    ...(typeof title === 'string' && { title: dropInvisible(title) }),
    description: typeof description === 'string' ? `${from} ${dropInvisible(description)}` : from,
    _meta: { ...(isPlainObject(_meta) && _meta), [resourceMetaKey]: { server, uri } },
  }
  // Clients of this revision of the protocol may know what is not of it; for an entry that is not a resource, they refuse the whole list.
  const whole: unknown = { ...said, ...known }
  return [isSpecType.Resource(whole) ? whole : known]
}

/** The servers that could not be asked, or why none was. */
function toMissing({ error, data }: ToolResult): JsonObject[] {
  if (error !== undefined) {
    const { code, reason, message } = error
    return [{ code, reason, message }]
  }
  const failed = isPlainObject(data) ? data['failed'] : undefined
  return Array.isArray(failed)
    ? failed.filter((server) => typeof server === 'string').map((server) => ({ server }))
    : []
}
