import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ToolResult } from '../../contract/result.ts'
import { artifactTemplate, readArtifactUri, toArtifactUri } from '../../kit/artifact-uri.ts'
import { isPlainObject } from '../../kit/is-plain-object.ts'
import { readServerUri, serverTemplate, toServerUri } from '../../mcp/server-uri.ts'
import { resourceMetaKey, toMcpContent } from '../../mcp/to-mcp-content.ts'
import type { ClientSession } from '../client-session.ts'
import { callTool, toProtocolError } from './call-tool.ts'
import { readingTools } from './reading-tools.ts'

/** Key of what part of an artifact was given, in the `_meta` of the part. */
const artifactMetaKey = 'handrail/artifact'

/** At a time. */
const maxBytes = 4 * 1024 * 1024

/** Where a client reads, and what it asked for. */
export interface Reading {
  readonly client: ClientSession
  readonly context: ServerContext
  readonly uri: string
}

/** Reads by a call on the one road, as a model would: rules decide about it, and evidence has it. */
export async function readResource(reading: Reading): Promise<ReadResourceResult> {
  const { uri } = reading
  if (readArtifactUri(uri) !== undefined) return readArtifact(reading)
  const named = readServerUri(uri)
  if (named !== undefined) {
    const result = await succeed(reading, readingTools.servers, { ...named })
    return { contents: contentsOf(result).map((content) => toServerContent(content, named.server)) }
  }
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no resource "${uri}". What calls left is at ${artifactTemplate}, what MCP servers have is at ${serverTemplate} with both parts percent-encoded; resources/list names what there is.`,
    { uri },
  )
}

type Content = ReadResourceResult['contents'][number]

/** All of an artifact where it is not too large, or the part that the URI names. */
async function readArtifact(reading: Reading): Promise<ReadResourceResult> {
  const { uri } = reading
  const named = readArtifactUri(uri)
  const input = named?.part === undefined ? { uri, length: maxBytes, whole: true } : { uri }
  const result = await succeed(reading, readingTools.artifacts, input)
  const { bytes, offset, next_offset: next }: Record<string, unknown> = Object(result.data)
  const isMore = named !== undefined && typeof next === 'number'
  const part = {
    bytes,
    offset,
    ...(isMore && { next: toArtifactUri(named, { offset: next, length: named.part?.length ?? maxBytes }) }),
  }
  return {
    contents: contentsOf(result).map((content) => ({ ...content, uri, _meta: { [artifactMetaKey]: part } })),
  }
}

async function succeed(
  { client, context }: Reading,
  tool: string,
  input: { uri: string; server?: string; length?: number; whole?: boolean },
): Promise<ToolResult> {
  const result = await callTool({ client, context, tool, input })
  if (!result.ok) throw toProtocolError(result)
  return result
}

function contentsOf({ content }: ToolResult): Content[] {
  return content.flatMap((block) => {
    const shown = toMcpContent(block)
    return shown.type === 'resource' ? [shown.resource] : []
  })
}

/** Under the URI that leads to its server; what it is called there is kept beside it. */
function toServerContent(content: Content, server: string): Content {
  const { uri, _meta } = content
  const own = isPlainObject(_meta) ? _meta : {}
  return {
    ...content,
    uri: toServerUri({ server, uri }),
    _meta: { ...own, [resourceMetaKey]: { server, uri } },
  }
}
