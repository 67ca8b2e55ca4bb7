import type { Issue, Json, JsonObject } from './base/json.ts'
import type { ResultMetadata, ToolOutput } from './base/result.ts'
import type { ToolDefinition } from './tool/tool.ts'

/** What the policy obliges to do to results of one tenant, and to what evidence keeps of its calls. */
export interface Obligations {
  /** Undefined if nothing is owed for this tool. */
  of(definition: ToolDefinition): Treatment | undefined
}

/** Everything that is owed for one tool. Total: what cannot be treated is withheld. */
export interface Treatment {
  readonly ids: readonly string[]
  /** A text from around the call: its progress, its artifacts, its errors. */
  text(value: string): string
  /** The input as evidence may keep it. */
  input(input: JsonObject): JsonObject
  /** Issues of an input or output that do not quote what is protected. */
  issues(issues: readonly Issue[], of: 'input' | 'output'): readonly Issue[]
  /** What the tool gave, as it may leave. */
  output(output: ToolOutput, about: TreatmentFacts): Treated
}

/** What a treatment needs to know of the call. */
export interface TreatmentFacts {
  readonly tenant: string
  readonly actor: string
  readonly call: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** What keeps data from fitting the output schema. */
  readonly findIssues: (data: Json) => readonly Issue[]
}

/** The treated output with what is to be said of it, or the obligations that could not be carried out and withhold the result. */
export type Treated =
  | {
      readonly output: ToolOutput
      readonly metadata: Pick<ResultMetadata, 'obligations' | 'watermark' | 'withheld'>
    }
  | { readonly failed: readonly string[] }
