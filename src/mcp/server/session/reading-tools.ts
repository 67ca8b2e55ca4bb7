/** The tools behind the resources of a client, by their canonical names: who may not call them reads nothing. */
export const readingTools = {
  artifacts: 'artifact.read',
  servers: 'mcp.read_resource',
  listServers: 'mcp.list_resources',
} as const
