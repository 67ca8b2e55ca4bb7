/** A person's standing yes: to one tool and scope, for one principal, for a time; until it is revoked. */
export interface Consent {
  readonly id: string
  readonly tenant: string
  /** For whom: an actor, or `*` for every actor of the tenant. */
  readonly actor: string
  /** Canonical name. */
  readonly tool: string
  /** The identity of the tool that it was given to: it counts for no other of that name, and for no other definition. */
  readonly identity: string
  /** The scope of a plan (a directory, a host, a program with its directory), the digest of one input, or `*`. */
  readonly scope: string
  /** Milliseconds since the epoch. */
  readonly givenAt: number
  readonly expiresAt: number
  /** Who said yes. */
  readonly givenBy: string
  readonly reason?: string
  readonly revokedAt?: number
}

/** What a person hands in to give a consent. Unknown fields are refused. */
export interface ConsentRequest {
  /** Default `local`. */
  tenant?: string
  /** Default `*`. */
  actor?: string
  tool: string
  /** Default `*`. */
  scope?: string
  /** How long it holds, in milliseconds; a shorter time that the tool's manifest names counts instead. Default a day, at most ten years. */
  validForMs?: number
  givenBy: string
  reason?: string
}

/** Standing consents of all tenants, kept in the store; given and revoked with a note in the evidence. */
export interface Consents {
  /** Resolves when it is durable; it holds from the next call on. Throws a SetupError for an unknown tool or tenant. */
  give(request: ConsentRequest): Promise<Consent>
  /** Holds no more from the next call on. Undefined if the tenant has no such consent. */
  revoke(tenant: string, id: string, by: string): Promise<Consent | undefined>
  list(tenant?: string): readonly Consent[]
}
