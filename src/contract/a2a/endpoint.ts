/** A request for a path that is not of MCP. */
export interface EndpointRequest {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  /** As text; undefined if it is larger than the server takes. */
  readonly body: () => Promise<string | undefined>
  /** Counts it among the requests of this caller; returns why that caller may have no more now. */
  readonly enter: (caller: string) => EndpointAnswer | undefined
}

/** What goes back: a JSON body, or none. */
export interface EndpointAnswer {
  readonly status: number
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** Paths beside MCP that the HTTP server of Handrail answers. */
export interface Endpoint {
  serves(path: string): boolean
  answer(request: EndpointRequest): Promise<EndpointAnswer>
  /** Takes no more work, lets what runs end for so long, and aborts the rest. */
  close(graceMs: number): Promise<void>
}
