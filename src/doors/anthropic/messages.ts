/** A tool as the Messages API takes it. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: { type: 'object'; [keyword: string]: unknown }
  strict?: true
  cache_control?: AnthropicCacheControl
  /** Loaded as soon as a result refers to it. */
  defer_loading?: true
}

/** Marks the end of what is cached. */
export interface AnthropicCacheControl {
  type: 'ephemeral'
  ttl?: '5m' | '1h'
}

/** An answer of the Messages API, as far as its calls depend on it. The whole of it may be handed over. */
export interface AnthropicMessage {
  role: 'assistant'
  content: unknown
  stop_reason?: string | null
}

/** Bytes as base64. */
export interface AnthropicSource<Type extends string> {
  type: 'base64'
  media_type: Type
  data: string
}

/** A piece of the result of a call. */
export type AnthropicResultContent =
  | { type: 'text'; text: string }
  | { type: 'image'; source: AnthropicSource<'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'> }
  | { type: 'document'; source: AnthropicSource<'application/pdf'> }
  | { type: 'tool_reference'; tool_name: string }

/** The result of a call. */
export interface AnthropicToolResult {
  type: 'tool_result'
  tool_use_id: string
  content: AnthropicResultContent[]
  is_error?: true
}

/** The message that answers all calls of an answer. */
export interface AnthropicReply {
  role: 'user'
  content: AnthropicToolResult[]
}
