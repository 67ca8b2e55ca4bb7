/**
 * Whether a host pattern matches a host, at label boundaries: `example.com` matches itself only, `*.example.com` every name below
 * it, `*` any host.
 */
export function matchHost(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase()
  const name = host.toLowerCase().replace(/\.$/, '')
  if (wanted === '*' || wanted === name) return true
  return wanted.startsWith('*.') && name.length > wanted.length - 1 && name.endsWith(wanted.slice(1))
}
