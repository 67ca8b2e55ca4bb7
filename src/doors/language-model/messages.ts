import type { Json } from '../../contract/base/json.ts'

/** A part of a message for a language model, or of its answer, in the form of the AI SDK. */
export interface ModelPart {
  readonly type: string
  readonly [field: string]: Json
}

/** One message of a prompt (`LanguageModelV4Message`). */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly ModelPart[]
}

/** A tool as a language model takes it (`LanguageModelV4FunctionTool`). */
export interface ModelTool {
  readonly type: 'function'
  readonly name: string
  readonly description: string
  readonly inputSchema: object
}

/** A whole answer. */
export interface ModelAnswer {
  /** Names it among all answers: what the ids of its calls start with. */
  readonly id: string
  readonly content: readonly ModelPart[]
  /** As the provider said, in the words of the AI SDK: `stop`, `length`, `tool-calls`, … */
  readonly finishReason: string
}
