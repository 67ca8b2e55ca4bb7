import {
  ProtocolError,
  ProtocolErrorCode,
  isInputRequiredResult,
  type InputRequiredResult,
  type ReadResourceResult,
} from '@modelcontextprotocol/server'
import type { ToolResult } from '../../../contract/base/result.ts'
import { artifactTemplate, readArtifactUri, toArtifactUri } from '../../../kit/result/artifact-uri.ts'
import { readServerUri, serverTemplate, toServerUri } from '../../translate/server-uri.ts'
import { resourceMetaKey, toMcpContent } from '../../translate/to-mcp-content.ts'
import { callTool, toProtocolError, type Asking, type Called } from './call-tool.ts'
import { readingTools } from '../session/reading-tools.ts'

/** Key of what part of an artifact was given, in the `_meta` of the part. */
const artifactMetaKey = 'handrail/artifact'

/** At a time. */
const maxBytes = 4 * 1024 * 1024

/** Reads by a call in the one pipeline, as a model would: rules decide about it, a person may be asked, and evidence has it. */
export async function readResource(
  asking: Asking,
  uri: string,
): Promise<ReadResourceResult | InputRequiredResult> {
  const way = findWay(uri)
  const done = await callTool(asking, way.called)
  if (isInputRequiredResult(done)) return done
  if (!done.ok) throw toProtocolError(done)
  return { contents: way.show(done) }
}

type Content = ReadResourceResult['contents'][number]

/** What is called for a URI, and what of its result is shown. */
interface Way {
  readonly called: Called
  readonly show: (result: ToolResult) => Content[]
}

function findWay(uri: string): Way {
  const way = findArtifact(uri) ?? findServer(uri)
  if (way !== undefined) return way
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no resource "${uri}". What calls left is at ${artifactTemplate}, what MCP servers have is at ${serverTemplate} with both parts percent-encoded; resources/list names what there is.`,
    { uri },
  )
}

/** All of an artifact where it is not too large, or the part that the URI names. */
function findArtifact(uri: string): Way | undefined {
  const named = readArtifactUri(uri)
  if (named === undefined) return undefined
  const { length } = named.part ?? { length: maxBytes }
  return {
    called: {
      tool: readingTools.artifacts,
      input: named.part === undefined ? { uri, length, whole: true } : { uri },
    },
    show(result) {
      const { bytes, offset, next_offset: next }: Record<string, unknown> = Object(result.data)
      const following =
        typeof next === 'number' ? { next: toArtifactUri(named, { offset: next, length }) } : {}
      const _meta = { [artifactMetaKey]: { bytes, offset, ...following } }
      return contentsOf(result).map((content) => ({ ...content, uri, _meta }))
    },
  }
}

/** Under the URI that leads to its server; what it is called there is kept beside it. */
function findServer(wanted: string): Way | undefined {
  const named = readServerUri(wanted)
  if (named === undefined) return undefined
  const { server } = named
  return {
    called: { tool: readingTools.servers, input: { ...named } },
    show: (result) =>
      contentsOf(result).map(({ uri, _meta, ...content }) => ({
        ...content,
        uri: toServerUri({ server, uri }),
        _meta: { ..._meta, [resourceMetaKey]: { server, uri } },
      })),
  }
}

function contentsOf({ content }: ToolResult): Content[] {
  return content.flatMap((block) => {
    const shown = toMcpContent(block)
    return shown.type === 'resource' ? [shown.resource] : []
  })
}
