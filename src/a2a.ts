// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export { a2aAgents, type A2aAgents, type A2aAgentsOptions } from './compose/a2a/a2a-agents.ts'
export { openCallKeys as a2aKeys, type CallKeys as A2aKeys } from './config/call-keys.ts'
export { serveA2a, type A2aServer, type ServeA2aOptions } from './compose/a2a/serve-a2a.ts'
export type { A2aAgent, A2aAgentState, A2aConfiguration } from './contract/a2a/agents.ts'
export type { A2aPeer, A2aServing, PrivateKey, PublicKey } from './contract/a2a/serving.ts'
export type { CallerIdentity } from './contract/base/caller-identity.ts'
export type { HandleEndpoint as HandleA2a } from './mcp/server/http/answer-endpoint.ts'
