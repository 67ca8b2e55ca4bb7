/** The tools of a session as `generateContent` takes them: `config: { tools: door.tools }`. */
export interface GoogleTool {
  functionDeclarations: GoogleFunction[]
}

/** One tool. Its schema stands in one of the two fields, as the door was told. */
export interface GoogleFunction {
  name: string
  description: string
  parametersJsonSchema?: unknown
  parameters?: object
}

/** An answer of `generateContent`, or the content in its first candidate. The whole of it may be handed over. */
export interface GoogleAnswer {
  candidates?: unknown[] | undefined
  role?: string | undefined
  parts?: unknown[] | undefined
}

/** A part of the content that answers calls. */
export type GooglePart =
  | { text: string }
  | { inlineData: GoogleBlob }
  | {
      functionResponse: {
        id?: string
        name: string
        response: { [field: string]: unknown }
        parts?: { inlineData: GoogleBlob }[]
      }
    }

/** Bytes as base64. */
export interface GoogleBlob {
  mimeType: string
  data: string
}

/** The content that answers all calls of an answer. */
export interface GoogleReply {
  role: 'user'
  parts: GooglePart[]
}
