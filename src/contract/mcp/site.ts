/** Who a request to a site comes from, if it shows a token that the server knows. */
export interface SiteCaller {
  /** Undefined for one who sees all tenants. */
  readonly tenant: string | undefined
  readonly actor: string
  /** Whether they may answer what waits for a person. */
  readonly decides: boolean
}

/** Pages for people, and the API behind them, which hang on an HTTP server beside MCP. */
export interface Site {
  /**
   * Undefined if nothing of the site is at that path. `identify` finds the caller of a request with a token, or answers why there is none. Never
   * rejects for what came in.
   */
  answer(request: Request, identify: () => Promise<SiteCaller | Response>): Promise<Response | undefined>
  /** Ends the streams of events: who still may have one connects anew. */
  endStreams(): void
}
