import type { IncomingHttpHeaders } from 'node:http'

/** A header that comes more than once is joined; of `location` none is left then, since two of them are a trick. */
export function toHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const known: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') known[name] = value
    else if (value !== undefined && name !== 'location') known[name] = value.join(', ')
  }
  return known
}
