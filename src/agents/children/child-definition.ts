/** What of an agent definition a child is made of. */
export interface ChildDefinition {
  readonly id: string
  readonly instructions: string
  readonly model?: string | undefined
  /** Suggestions; what the policy and its parent allow counts. */
  readonly tools?: readonly string[] | undefined
  readonly maxTurns?: number | undefined
  readonly timeoutMs?: number | undefined
}
