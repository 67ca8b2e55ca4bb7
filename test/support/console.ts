import { createHash } from 'node:crypto'
import { chromium, type Browser, type Page } from 'playwright-core'
import { atEnd, keepOpen } from './at-end.ts'
import { makePlace, type Place } from './command-line.ts'
import { openShop } from './shop.ts'
import { startServer } from './start-command.ts'

/** A caller of gateway.json whose token is `hr_` and its id. */
export const caller = (id: string, more: object = {}) => ({
  id,
  actor: id,
  sha256: createHash('sha256').update(`hr_${id}`).digest('hex'),
  ...more,
})

/** A gateway with its console, and a program that asks on the same store. */
export async function startConsole(
  own: Readonly<Record<string, unknown>> = {},
  place = makePlace({}, own),
  options: ServeOptions = {},
) {
  const policy = own['policy.json'] === undefined ? {} : { policy: own['policy.json'] as object }
  const shop = await openShop(place.store, policy)
  const ask = async (order: string, as: object = { actor: 'ann' }) => {
    const session = shop.runtime.session(as)
    const step = await session.step([{ id: order, tool: 'shop.refund', input: { order } }])
    const [waiting] = step.waiting
    if (waiting === undefined) throw new Error('Nothing waits.')
    return { session, step, approval: waiting.approval }
  }
  return { place, shop, ask, ...(await serve(place, options)) }
}

export interface ServeOptions {
  readonly port?: number
  readonly env?: Readonly<Record<string, string>>
}

/** `handrail serve` in this place. */
export async function serve(place: Place, { port = 0, env = {} }: ServeOptions = {}) {
  const server = await startServer(place, ['--port', String(port)], env)
  const link = /http\S+\/enter\S+/.exec(server.output.stdout)?.[0] ?? 'no link'
  return { server, link, origin: new URL(server.url).origin }
}

/** An answer of the API. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came.
  readonly body: any
}

/** A person who opened a link, without a browser. */
export async function enter(link: string) {
  const entered = await fetch(link, { redirect: 'manual' })
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  return { entered, ...(await visit(new URL(link).origin, cookie)) }
}

/** Who has the cookie of a visit. */
export async function visit(origin: string, cookie: string) {
  const api = (
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ) => askApi(origin, path, { ...init, headers: { cookie, ...init.headers } })
  const { csrf } = (await api('/me')).body as { csrf: string }
  const change = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    api(path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-csrf-token': csrf, ...headers },
    })
  return { cookie, csrf, api, change }
}

export async function askApi(origin: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${origin}/api${path}`, init)
  const text = await response.text()
  const isLines = response.headers.get('content-type') === 'application/jsonl'
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : isLines ? { text } : JSON.parse(text),
  }
}

let running: Promise<Browser> | undefined

/** The browser of all files that share a process, which it ends with. Debian's own: no other one is fetched. */
export function keepBrowser(): () => Browser {
  return keepOpen(() => (running ??= startBrowser()))
}

async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  browser.on('disconnected', () => (running = undefined))
  return browser
}

/** A page of a person who opened this link in a browser of their own, and all that the browser asked for and complained of. */
export async function openPage(
  browser: Browser,
  link: string,
  options: Parameters<Browser['newPage']>[0] = {},
) {
  const page: Page = await browser.newPage(options)
  atEnd(() => page.close())
  page.setDefaultTimeout(180_000)
  const requests: string[] = []
  const faults: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  await page.goto(link)
  return { page, requests, faults }
}
