import { dropInvisible } from '../../kit/text/drop-invisible.ts'
import { matchHost } from '../../kit/match/match-host.ts'
import type { RawHit, SearchQuestion } from './search-engine.ts'

/** One result of a search. */
export interface Hit {
  title: string
  url: string
  snippet: string
}

/** The results that fit the domains, each page once, in plain text, at most as many as were asked for. */
export function toHits(raw: readonly RawHit[], question: SearchQuestion): Hit[] {
  const hits = new Map<string, Hit>()
  for (const { title, url, snippet } of raw) {
    if (hits.size === question.limit) break
    const target = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
    if (target === undefined || !/^https?:$/.test(target.protocol) || !fits(target.hostname, question))
      continue
    if (hits.has(target.href)) continue
    hits.set(target.href, { title: plain(title, 300), url: target.href, snippet: plain(snippet, 1_000) })
  }
  return [...hits.values()]
}

function fits(host: string, { allowedDomains, blockedDomains }: SearchQuestion): boolean {
  const isIn = (domain: string) => matchHost(domain, host) || matchHost(`*.${domain}`, host)
  return !blockedDomains.some(isIn) && (allowedDomains.length === 0 || allowedDomains.some(isIn))
}

const entities: { readonly [name: string]: string } = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#x27': "'",
  nbsp: ' ',
}

/** Engines mark what they found with tags. */
function plain(text: unknown, maxLetters: number): string {
  if (typeof text !== 'string') return ''
  const bare = text
    .slice(0, 10 * maxLetters)
    .replaceAll(/<\/?[a-z][^<>]*>/gi, '')
    .replaceAll(/&([a-z]+|#39|#x27);/gi, (whole, name: string) => entities[name.toLowerCase()] ?? whole)
  const line = dropInvisible(bare).replaceAll(/\s+/g, ' ').trim()
  return line.length > maxLetters ? `${line.slice(0, maxLetters)}…` : line
}
