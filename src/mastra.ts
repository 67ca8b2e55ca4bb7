// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export { mastra, type MastraDoor, type MastraOptions } from './doors/mastra/mastra.ts'
export type { MakeMastraTool } from './doors/mastra/to-mastra-tool.ts'
export { fromMastra, type MastraTool } from './doors/mastra/from-mastra.ts'
