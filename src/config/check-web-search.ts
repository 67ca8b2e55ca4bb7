import type { WebSearchConfiguration } from '../contract/configuration.ts'
import type { Issue } from '../contract/base/json.ts'

/** What a schema cannot say of a search engine that fits it. */
export function checkWebSearch(search: WebSearchConfiguration | undefined): Issue[] {
  if (search === undefined) return []
  const { engine, url } = search
  const issues: Issue[] = []
  const refuse = (code: string, message: string) => issues.push({ pointer: '/webSearch/url', code, message })
  if (url === undefined && engine === 'searxng')
    refuse('missing', 'SearXNG runs somewhere of its own; give its URL, such as "http://127.0.0.1:8888".')
  if (url !== undefined && !/^https?:\/\//i.test(url))
    refuse('invalid_url', `"${url}" is not a URL of the web. Write it from "https://" on.`)
  else if (url !== undefined && !URL.canParse(url)) refuse('invalid_url', `"${url}" is not a URL.`)
  return issues
}
