/** JSON Schema, as OpenAI's SDK types it. */
export interface OpenAIParameters {
  [keyword: string]: unknown
}

/** What the Responses API takes as tools. */
export type OpenAIResponsesTool = OpenAIFunctionTool | OpenAISearchTool

/** The tool that searches, as the Responses API takes it when it loads by itself what is found. */
export interface OpenAISearchTool {
  type: 'tool_search'
  execution: 'client'
  description: string
  parameters: OpenAIParameters
}

/** A tool that a search found. */
export interface OpenAIFoundTool extends OpenAIFunctionTool {
  defer_loading: true
}

/** A function as the Responses API takes it. */
export interface OpenAIFunctionTool {
  type: 'function'
  name: string
  description: string
  parameters: OpenAIParameters
  strict: boolean
}

/** An answer of the Responses API, as far as its calls depend on it. The whole of it may be handed over. */
export interface OpenAIResponse {
  output: unknown[]
  status?: string | null | undefined
}

/** A piece of the result of a call. */
export type OpenAIResponsesContent =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string }

/** What is to be appended to the input for a call. */
export type OpenAIResponsesReply = OpenAIFunctionOutput | OpenAISearchOutput

/** What a search found, to be appended to the input. */
export interface OpenAISearchOutput {
  type: 'tool_search_output'
  call_id: string
  execution: 'client'
  status: 'completed'
  tools: OpenAIFoundTool[]
}

/** The result of a call, to be appended to the input. */
export interface OpenAIFunctionOutput {
  type: 'function_call_output'
  call_id: string
  output: string | OpenAIResponsesContent[]
  /** Of a call that a program of the model made. */
  caller?: { type: 'program'; caller_id: string } | { type: 'direct' }
}

/** A tool as Chat Completions take it. */
export interface OpenAIChatTool {
  type: 'function'
  function: { name: string; description: string; parameters: OpenAIParameters; strict?: true }
}

/** An answer of Chat Completions, or the message in its first choice. The whole of it may be handed over. */
export interface OpenAIChatAnswer {
  choices?: unknown[] | undefined
  role?: string | undefined
  content?: unknown
}

/** The result of a call, or the images of all results. */
export type OpenAIChatReply =
  | { role: 'tool'; tool_call_id: string; content: string }
  | { role: 'function'; name: string; content: string }
  | { role: 'user'; content: OpenAIChatContent[] }

/** A piece of the message that follows the results. */
export type OpenAIChatContent =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'file'; file: { filename: string; file_data: string } }
