import type { WebSearchConfiguration } from '../../contract/configuration.ts'
import type { Json } from '../../contract/base/json.ts'
import type { WebRequest } from '../../contract/services/network.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** What is asked of a search engine. */
export interface SearchQuestion {
  query: string
  limit: number
  allowedDomains: readonly string[]
  blockedDomains: readonly string[]
}

/** One result as an engine returns it, not yet looked at. */
export interface RawHit {
  title: unknown
  url: unknown
  snippet: unknown
}

/** How one kind of engine is spoken to. */
export interface SearchEngine {
  /** Where it is by default. */
  readonly url: string | undefined
  toRequest(
    question: SearchQuestion,
    about: { url: string; key: string | undefined },
  ): Pick<WebRequest, 'url' | 'method' | 'headers' | 'body'>
  /** The results in an answer; undefined if it is none of this engine. */
  readHits(answer: Json): readonly RawHit[] | undefined
}

/** The engines there are, by their documented formats. */
export const searchEngines: { readonly [name in WebSearchConfiguration['engine']]: SearchEngine } = {
  searxng: {
    url: undefined,
    toRequest(question, { url, key }) {
      const at = new URL('search', url.endsWith('/') ? url : `${url}/`)
      at.searchParams.set('q', withDomains(question))
      at.searchParams.set('format', 'json')
      return {
        url: at.href,
        headers: { ...json, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      }
    },
    readHits: (answer) => hitsIn(answer, { results: ['results'], snippet: 'content' }),
  },
  brave: {
    url: 'https://api.search.brave.com/res/v1/web/search',
    toRequest(question, { url, key }) {
      const at = new URL(url)
      at.searchParams.set('q', withDomains(question))
      at.searchParams.set('count', String(Math.min(question.limit, 20)))
      return { url: at.href, headers: { ...json, ...(key !== undefined && { 'x-subscription-token': key }) } }
    },
    readHits: (answer) => hitsIn(answer, { results: ['web', 'results'], snippet: 'description' }),
  },
  tavily: {
    url: 'https://api.tavily.com/search',
    toRequest: ({ query, limit, allowedDomains, blockedDomains }, { url, key }) => ({
      url,
      method: 'POST',
      headers: {
        ...json,
        'content-type': 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        query,
        max_results: limit,
        ...(allowedDomains.length > 0 && { include_domains: allowedDomains }),
        ...(blockedDomains.length > 0 && { exclude_domains: blockedDomains }),
      }),
    }),
    readHits: (answer) => hitsIn(answer, { results: ['results'], snippet: 'content' }),
  },
}

const json = { accept: 'application/json' }

/** The operators that nearly all engines know. What comes back is held against the domains all the same. */
function withDomains({ query, allowedDomains, blockedDomains }: SearchQuestion): string {
  const wanted = allowedDomains.map((domain) => `site:${domain}`).join(' OR ')
  const unwanted = blockedDomains.map((domain) => `-site:${domain}`)
  return [query, ...(wanted === '' ? [] : [wanted]), ...unwanted].join(' ')
}

function hitsIn(
  answer: Json,
  about: { results: readonly string[]; snippet: string },
): readonly RawHit[] | undefined {
  let found: unknown = answer
  for (const field of about.results) found = isPlainObject(found) ? found[field] : undefined
  // Brave leaves the whole part out where nothing was found.
  if (found === undefined && about.results.length > 1 && isPlainObject(answer)) return []
  if (!Array.isArray(found)) return undefined
  return found
    .filter(isPlainObject)
    .map((hit) => ({ title: hit['title'], url: hit['url'], snippet: hit[about.snippet] }))
}
