import type { CallError, ErrorCode } from './errors.ts'
import type { Issue, Json, JsonObject } from './json.ts'
import type { Repair } from './schema.ts'

/** A large or binary output, kept by its digest. */
export interface Artifact {
  /** `sha256:` and 64 hex digits. */
  digest: string
  bytes: number
  mimeType: string
  name?: string
  /** Only its start is kept: more came than a call may leave (`limits.artifactBytes`). */
  truncated?: true
}

/** One piece of a result. */
export type ContentBlock =
  | ({ type: 'text'; text: string } & ContentAside)
  | { type: 'json'; json: Json }
  /** `data` is base64. */
  | ({ type: 'image' | 'audio'; data: string; mimeType: string } & ContentAside)
  /** With its `text`, its bytes (`blob`, base64), or neither. */
  | ({
      type: 'resource'
      uri: string
      name?: string
      mimeType?: string
      text?: string
      blob?: string
      /** The MCP server that has it, as the operator named it: `mcp.read_resource` reads it there. */
      server?: string
    } & ContentAside)
  | { type: 'artifact_ref'; artifact: Artifact; note?: string }
  /** Of a kind that only its source and some clients know, as it came. */
  | { type: 'other'; block: JsonObject }

/** What else a source says of a piece, such as the annotations of MCP. It is for clients that know it. */
export interface ContentAside {
  aside?: JsonObject
}

/** How a call ended; `waiting`: it did not run yet, because a person has not decided. */
export type Outcome = 'ok' | 'denied' | 'failed' | 'aborted' | 'unknown' | 'waiting'

/** Mark of a `ToolOutput`, so that ordinary data with a field `content` is never taken for one. */
export const outputMark = Symbol.for('handrail.output')

/** What a tool returns when it wants to say more than a JSON value. Make one with `toolOutput`. */
export interface ToolOutput {
  readonly [outputMark]: true
  content: readonly ContentBlock[]
  data?: Json
  summary?: string
  artifacts?: readonly Artifact[]
  /** Makes the call fail while `content` still goes back. `code` defaults to `TOOL.FAILED`. */
  error?: {
    code?: ErrorCode
    reason: string
    message: string
    issues?: readonly Issue[]
    data?: { readonly [key: string]: Json }
  }
  metadata?: { readonly [key: string]: Json }
}

/** What an image, sound or film of a result is, or a resource other than text (`file`). Obligations do not look into their bytes. */
export interface MediaSummary {
  kind: 'image' | 'audio' | 'video' | 'file'
  /** As the tool declared it. */
  mimeType: string
  bytes: number
  /** `sha256:` and 64 hex digits. */
  digest: string
  /** In pixels; absent if they are not known. */
  width?: number
  height?: number
  /** What is wrong with it, such as bytes of another type. */
  note?: string
}

/** What a person answered, with what the program that asked says of that, such as who they are. */
export interface PersonAnswer {
  decision: 'allow_once' | 'allow_for_session' | 'deny'
  reason?: string
  /** Who answered, if that is known; of several people, all of them. */
  by?: string
  /** Id of the pending approval that was answered. */
  id?: string
  metadata?: JsonObject
}

/** Facts about how a result came about. */
export interface ResultMetadata {
  session: string
  /**
   * From the start of the tool's run to its end; of a call that did not run, from when it was taken up. The time that people took to answer is
   * not counted.
   */
  durationMs: number
  /** The name and id that the provider used, when they differ from ours. */
  rawName?: string
  rawId?: string
  aborted?: boolean
  partial?: boolean
  abortReason?: string
  /** Set when blocks of `content` were shortened: their wholes are in artifacts. */
  truncated?: { bytes: number; shownBytes: number }
  /** Lossless coercions of the input. */
  repairs?: readonly Repair[]
  /** The result was kept from an earlier call with the same idempotency key. */
  replayed?: boolean
  /** What the person answered who was asked about the call. */
  approval?: PersonAnswer
  /** Notes of PreToolUse hooks. */
  hookNotes?: readonly string[]
  /** Advice of a deprecated tool. */
  deprecated?: string
  /** Its images, sounds, films and resources other than text: those in `content`, in its order, then the artifacts. */
  media?: readonly MediaSummary[]
  /** Ids of the policy's obligations that hold for this result. */
  obligations?: readonly string[]
  /** What an obligation adds to every result. */
  watermark?: string
  /** Why the structured data is not there. */
  withheld?: string
  /** Where the structured data is that was too large for the result. */
  dataArtifact?: Artifact
  /** Programs of the call ran on the host, by choice of the operator, and nothing isolated them. */
  sandbox?: 'host'
  /** What the tool itself added. */
  tool?: { readonly [key: string]: Json }
}

/** What goes back to the caller. There is exactly one for every call. */
export interface ToolResult {
  /** Handrail's id of the call: unique for ever, sortable by time. */
  callId: string
  /** The provider's id, or `callId` where the provider gave none. Results pair with calls by it. */
  toolCallId: string
  /** Canonical name; for an unknown tool, the name that was asked for. */
  tool: string
  ok: boolean
  outcome: Outcome
  content: readonly ContentBlock[]
  data?: Json
  summary: string
  artifacts: readonly Artifact[]
  error?: CallError
  metadata: ResultMetadata
}
