import { matchPattern } from './match-pattern.ts'
import { readHostPattern } from './host-pattern.ts'

/**
 * Whether a host pattern matches a host, at label boundaries: `example.com` matches itself only, `*.example.com` every name below
 * it, `*` any host. Any other `*` stays between two dots: `api-*.example.com`, `example.*`. Ports of either say nothing here.
 */
export function matchHost(pattern: string, host: string): boolean {
  if (pattern === '*' || pattern === host) return true
  const wanted = toName(pattern)
  const name = toName(host)
  if (wanted === '*' || wanted === name) return true
  if (!wanted.includes('*')) return false
  const labels = wanted.split('.')
  const found = name.split('.')
  if (labels[0] === '*') {
    labels.shift()
    found.splice(0, Math.max(1, found.length - labels.length))
  }
  return (
    labels.length === found.length && labels.every((label, index) => matchPattern(label, found[index] ?? ''))
  )
}

function toName(text: string): string {
  const name = readHostPattern(text.toLowerCase()).host
  return name.endsWith('.') ? name.slice(0, -1) : name
}
