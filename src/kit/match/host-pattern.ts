/** A pattern of hosts, and the port that it is for. */
export interface HostPattern {
  readonly host: string
  /** Undefined: those that are open anyway. */
  readonly port: number | undefined
}

/** Reads `db.example:5432`, `[::1]:5432`, and patterns without a port. What is neither is a pattern as it stands. */
export function readHostPattern(text: string): HostPattern {
  // An address of IPv6 has more than one colon, unless it stands in brackets.
  const found = text.includes(':') ? /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) : null
  if (found === null) return { host: text, port: undefined }
  const [, bracketed, plain = '', port] = found
  return { host: bracketed ?? plain, port: port === undefined ? undefined : Number(port) }
}

/** The same as a text. */
export function showHostPattern({ host, port }: HostPattern): string {
  if (port === undefined) return host
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
