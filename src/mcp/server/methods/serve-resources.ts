import type { ServerContext, StandardSchemaV1 } from '@modelcontextprotocol/server'
import { artifactTemplate } from '../../../kit/result/artifact-uri.ts'
import { serverTemplate } from '../../translate/server-uri.ts'
import type { ClientSession } from '../session/client-session.ts'
import { guarded } from '../calls/guarded.ts'
import type { Asking } from './call-tool.ts'
import { listResources } from './list-resources.ts'
import { readResource } from './read-resource.ts'
import { readingTools } from '../session/reading-tools.ts'

/** What resources are served with. */
export interface ResourceOptions extends Omit<Asking, 'context'> {
  /** A list without pages. */
  readonly onePage: StandardSchemaV1<{ cursor?: unknown }>
  readonly log: (line: string) => void
}

/** What calls left, and what the servers behind the tools have, as resources of a client. */
export function serveResources({ onePage, log, ...at }: ResourceOptions): void {
  const { server, client } = at
  const asking = (context: ServerContext): Asking => ({ ...at, context })
  server.setRequestHandler('resources/list', { params: onePage }, (_params, context) =>
    guarded(log, () => listResources(asking(context))),
  )
  server.setRequestHandler('resources/templates/list', { params: onePage }, () =>
    guarded(log, () => ({ resourceTemplates: templatesOf(client) })),
  )
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) =>
    guarded(log, () => readResource(asking(context), uri)),
  )
}

function templatesOf(client: ClientSession) {
  return [
    ...(client.has(readingTools.artifacts) ? [artifacts] : []),
    ...(client.has(readingTools.servers) ? [servers] : []),
  ]
}

const artifacts = {
  uriTemplate: artifactTemplate,
  name: 'artifact',
  title: 'What a call left',
  description:
    'A large or binary output of an own call, as results link it. Over 4 MiB it is read in parts, by offset and length in bytes.',
}

const servers = {
  uriTemplate: serverTemplate,
  name: 'mcp',
  title: 'What an MCP server has',
  description: 'A resource of an MCP server, by the name of the server and the URI that it has there.',
}
