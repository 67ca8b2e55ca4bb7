import { readEnvironment } from '../setup/wire.ts'

/** The environment variables in which the packages of the AI SDK look for their keys. */
const keyNames: { readonly [name: string]: string } = {
  '@ai-sdk/anthropic': 'ANTHROPIC_API_KEY',
  '@ai-sdk/cerebras': 'CEREBRAS_API_KEY',
  '@ai-sdk/cohere': 'COHERE_API_KEY',
  '@ai-sdk/deepinfra': 'DEEPINFRA_API_KEY',
  '@ai-sdk/deepseek': 'DEEPSEEK_API_KEY',
  '@ai-sdk/fireworks': 'FIREWORKS_API_KEY',
  '@ai-sdk/google': 'GOOGLE_GENERATIVE_AI_API_KEY',
  '@ai-sdk/groq': 'GROQ_API_KEY',
  '@ai-sdk/mistral': 'MISTRAL_API_KEY',
  '@ai-sdk/openai': 'OPENAI_API_KEY',
  '@ai-sdk/perplexity': 'PERPLEXITY_API_KEY',
  '@ai-sdk/togetherai': 'TOGETHER_AI_API_KEY',
  '@ai-sdk/xai': 'XAI_API_KEY',
}

/** The variable that has to hold the key of a package; undefined if the package itself knows where its key is. */
export function keyNameOf(name: string): string | undefined {
  return Object.hasOwn(keyNames, name) ? keyNames[name] : undefined
}

/** The names of all variables of this environment that hold the key of a known provider. */
export function presentKeyNames(): readonly string[] {
  return Object.values(keyNames).filter((name) => readEnvironment(name) !== undefined)
}
