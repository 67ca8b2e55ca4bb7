import { registerHooks } from 'node:module'

// SDKs that are too large to be installed for tests: Mastra takes 132 MB, the Claude Agent SDK 400 MB.
const standIns: { readonly [specifier: string]: string } = {
  '@anthropic-ai/claude-agent-sdk': 'claude-agent-sdk.ts',
  '@mastra/core': 'mastra.ts',
  '@mastra/core/agent': 'mastra.ts',
  '@mastra/core/storage': 'mastra.ts',
  '@mastra/core/tools': 'mastra.ts',
}

registerHooks({
  resolve(specifier, context, next) {
    const file = Object.hasOwn(standIns, specifier) ? standIns[specifier] : undefined
    return file === undefined
      ? next(specifier, context)
      : { url: new URL(file, import.meta.url).href, shortCircuit: true }
  },
})
