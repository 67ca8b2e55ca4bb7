/** `a2a` of `config.json`: the agents of other domains whose skills are tools here. */
export interface A2aConfiguration {
  /** Who this Handrail is to them: the `iss` of the tokens that its calls carry, such as `https://handrail.acme.example`. */
  issuer: string
  /** The `iss` of single tenants, so that the other side can tell them apart. No name of a tenant is ever sent. */
  issuers?: Readonly<Record<string, string>>
  /** By the names that their tools have here: `a2a.<name>.<skill>`. */
  agents: { readonly [name: string]: A2aAgent }
}

/** An agent of another domain, or another Handrail. */
export interface A2aAgent {
  /** URL of its agent card. */
  card: string
  /** Patterns of its own names of skills: those that are imported, and those that the operator says only read. */
  tools?: { allow?: readonly string[]; deny?: readonly string[]; readonly?: readonly string[] }
  /** Sent with each request. A `${NAME}` in a value is the secret of that name. With an `Authorization`, no token of ours is sent. */
  headers?: Readonly<Record<string, string>>
  /** Only these tenants have its tools. Default: all. */
  tenants?: readonly string[]
  /** Time limit of a call. Default: that of the runtime. */
  timeoutMs?: number
  /** Whether models are not shown its tools until a search finds them. Default false. */
  defer?: boolean
}

/** Where an agent stands. */
export interface A2aAgentState {
  readonly agent: string
  readonly card: string
  /** Canonical names. */
  readonly tools: readonly string[]
  /** Why it is of no use now; undefined if it answered. */
  readonly fault: string | undefined
}
