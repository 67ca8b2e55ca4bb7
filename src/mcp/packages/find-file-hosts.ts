import type { Web } from '../../contract/mcp/tool-feed.ts'
import { readJsonObject } from '../../kit/json/is-json-object.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { hostWithPort } from './host-with-port.ts'

const accept = 'application/vnd.pypi.simple.v1+json, text/html;q=0.5'
const patienceMs = 20_000

/** Hosts that an index of Python leads to for the files of a package, each with its port (PEP 503, PEP 691). */
export async function findFileHosts(web: Web, indexes: readonly string[], name: string): Promise<string[]> {
  const found = await Promise.all(indexes.map((index) => ask(web, index, name).catch(() => [])))
  return [...new Set(found.flat())]
}

async function ask(web: Web, index: string, name: string): Promise<string[]> {
  const page = new URL(`${index.replace(/\/+$/, '')}/${name.toLowerCase().replaceAll(/[-_.]+/g, '-')}/`)
  const credentials =
    page.username === ''
      ? undefined
      : Buffer.from(`${decodeURIComponent(page.username)}:${decodeURIComponent(page.password)}`)
  page.username = ''
  page.password = ''
  const origin = web.reach(page.origin)
  try {
    const answer = await origin.request(page, {
      headers: { accept, ...(credentials && { authorization: `Basic ${credentials.toString('base64')}` }) },
      signal: AbortSignal.timeout(patienceMs),
    })
    if (!answer.ok) return []
    const text = await answer.text()
    const urls = text.trimStart().startsWith('{')
      ? urlsOfJson(text)
      : [...text.matchAll(/href="([^"]+)"/g)].map(([, url = '']) => url)
    return urls
      .filter((url) => URL.canParse(url, page.href))
      .map((url) => hostWithPort(new URL(url, page.href).href))
  } finally {
    await origin.close()
  }
}

function urlsOfJson(text: string): string[] {
  const { files } = readJsonObject(JSON.parse(text))
  const entries: unknown[] = Array.isArray(files) ? files : []
  return entries.flatMap((each) =>
    isPlainObject(each) && typeof each['url'] === 'string' ? [each['url']] : [],
  )
}
