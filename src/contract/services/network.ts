/** What is asked of a server. */
export interface WebRequest {
  /** As `resolve` returned it, or as it was written. */
  url: string
  /** Default `GET`. A `POST` follows no redirect. */
  method?: 'GET' | 'POST'
  /** Sent to the host of `url` only, never on to another one. */
  headers?: Readonly<Record<string, string>>
  body?: string
  /** Of the body, counted after it is unpacked; what follows is left. */
  maxBytes: number
  /** For everything together: names, redirects, headers and body. */
  timeoutMs: number
}

/** What a server answered. A status of 400 and above is an answer too. */
export interface WebResponse {
  /** Where the answer came from, after all redirects. */
  url: string
  status: number
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  bytes: Uint8Array
  /** Whether more of the body would have followed. */
  truncated: boolean
  /** Each URL that redirected, in order. */
  redirects: readonly string[]
}

/**
 * Servers that the profile of a call covers. A URL is judged as it is parsed, every address of its host before a connection,
 * and every redirect anew; the connection goes to an address that was judged. Refusals are `ToolFailure`s with
 * `SANDBOX.CAPABILITY_BLOCKED`; what the server or the way to it does wrong is `TOOL.FAILED`.
 */
export interface Network {
  /** The URL in its one form, and its host. Looks nothing up; refuses what can be told from the URL alone. */
  resolve(url: string): Promise<{ url: string; host: string }>
  request(request: WebRequest): Promise<WebResponse>
}

/** Turns pages of strangers into text, where nothing of them can hold up or reach anything else. */
export interface Pages {
  /**
   * The readable part of an HTML page, without what a person would not see. Fails with `html_limit` where the page is too deep, too large
   * or takes longer than `timeoutMs`.
   */
  convert(page: {
    html: string
    /** Where it came from; relative links are resolved against it. */
    url: string
    to: 'markdown' | 'text'
    timeoutMs: number
  }): Promise<{ title: string; text: string }>
}
