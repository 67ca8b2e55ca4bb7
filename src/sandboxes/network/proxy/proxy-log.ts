import type { CommandNetwork } from '../../../contract/services/sandbox.ts'

/** What programs asked of a proxy, each host once. */
export interface ProxyLog {
  reached(host: string): void
  refused(host: string, reason: string): void
  report(): CommandNetwork
}

/** A program may ask for as many names as it likes. */
const maxEntries = 100
/** No name of a host is longer than 255 letters. */
const maxLetters = 270

/** Keeps the first of them; what is refused is told at once. */
export function createProxyLog(onRefused: (host: string) => void = () => {}): ProxyLog {
  const reached = new Set<string>()
  const refused = new Map<string, { host: string; reason: string }>()
  return {
    reached(host) {
      if (reached.size < maxEntries) reached.add(host)
    },
    refused(host, reason) {
      const shown = host.slice(0, maxLetters)
      const entry = `${shown} ${reason}`
      if (refused.size >= maxEntries || refused.has(entry)) return
      refused.set(entry, { host: shown, reason })
      onRefused(shown)
    },
    report: () => ({ reached: [...reached], refused: [...refused.values()] }),
  }
}
