/** A tool as the Converse API takes it: `toolConfig: { tools: door.tools }`. */
export interface BedrockTool {
  toolSpec: {
    name: string
    description: string
    inputSchema: { json: BedrockDocument }
  }
}

/** JSON, as the SDK of AWS types it. */
export type BedrockDocument =
  | null
  | boolean
  | number
  | string
  | BedrockDocument[]
  | { [key: string]: BedrockDocument }

/** An answer of the Converse API, or the message in it. The whole of it may be handed over. */
export interface BedrockAnswer {
  output?: { message?: unknown } | undefined
  stopReason?: string | undefined
  role?: string | undefined
  content?: unknown
}

/** A piece of the result of a call, or of a message beside results. */
export type BedrockContent =
  | { text: string }
  | { image: { format: 'png' | 'jpeg' | 'gif' | 'webp'; source: { bytes: Uint8Array } } }
  | { document: { format: 'pdf'; name: string; source: { bytes: Uint8Array } } }

/** The result of a call. */
export interface BedrockToolResult {
  toolUseId: string
  content: BedrockContent[]
  status: 'success' | 'error'
}

/** The message that answers all calls of an answer. */
export interface BedrockReply {
  role: 'user'
  content: ({ toolResult: BedrockToolResult } | BedrockContent)[]
}
