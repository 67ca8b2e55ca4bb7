// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type { LangChainNode } from './doors/langchain/create-tool-node.ts'
export type { Interrupt } from './doors/langchain/graph-approvals.ts'
export { langChain, type LangChainDoor, type LangChainOptions } from './doors/langchain/lang-chain.ts'
export type { LangChainContent, MakeLangChainTool } from './doors/langchain/to-lang-chain-tool.ts'
export { fromLangChain, type LangChainTool } from './doors/langchain/from-lang-chain.ts'
