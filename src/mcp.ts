// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type { Wants as McpWants } from './mcp/upstream/base/find-remedy.ts'
export {
  mcpTools,
  type McpLoginOptions,
  type McpLookOptions,
  type McpState,
  type McpTools,
  type McpToolsOptions,
} from './compose/sources/mcp-tools.ts'
export type { Authorize, LoginFacts, LoginRequest } from './contract/mcp/login.ts'
export type { PackageVersion as McpPackageVersion } from './mcp/packages/fetching.ts'
export type { PackageUpdate as McpPackageUpdate, Pin as McpPackagePin } from './mcp/packages/open-packages.ts'
export type { IdlePattern as McpIdlePattern } from './mcp/upstream/base/idle-patterns.ts'
export type { FaultyTool as McpFaultyTool } from './mcp/upstream/base/import-tool.ts'
export type {
  ConnectionState as McpConnectionState,
  PackageState as McpPackageState,
  Unwritable as McpUnwritable,
  UpstreamState as McpServerState,
} from './mcp/upstream/base/upstream.ts'
export {
  serveMcp,
  type McpHttpServer,
  type McpStdioServer,
  type ServeMcpBase,
  type ServeMcpHttpOptions,
  type ServeMcpStdioOptions,
} from './mcp/server/program/serve-mcp.ts'
export type { McpCaller, McpSession, ServeMcpLimits, WhoCalls } from './mcp/server/callers/who-calls.ts'
