import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { SignJWT, exportJWK, generateKeyPair, type CryptoKey } from 'jose'
import type { Runtime, RuntimeOptions } from 'handrail'
import {
  a2aAgents,
  a2aKeys,
  serveA2a,
  type A2aAgent,
  type A2aPeer,
  type A2aServer,
  type PublicKey,
} from 'handrail/a2a'
import { atEnd } from '../support/at-end.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

/** Who calls in these tests, unless one says otherwise. */
export const issuer = 'https://caller.example'

/** A request as it came over the wire. */
export interface Heard {
  readonly path: string
  readonly method: string
  readonly token: string | undefined
  readonly body: string
}

/** A place that listens on this machine, and may be given to another one later. */
export interface Listening {
  readonly url: string
  readonly heard: Heard[]
  /** Who answers from now on. */
  answer: (request: IncomingMessage, response: ServerResponse) => void
  close(): void
}

/** Listens on this machine; what comes is noted. */
export async function listen(): Promise<Listening> {
  const heard: Heard[] = []
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const token = request.headers.authorization?.replace('Bearer ', '')
      heard.push({
        path: request.url ?? '',
        method: request.method ?? '',
        token,
        body: Buffer.concat(chunks).toString('utf8'),
      })
    })
    listening.answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  atEnd(close)
  const listening: Listening = {
    url: `http://127.0.0.1:${port}/a2a`,
    heard,
    answer: (_, response) => void response.writeHead(404).end(),
    close,
  }
  return listening
}

/** A file of keys, and what of them the other side has to know. */
export function makeKeys(): { path: string; keys: readonly PublicKey[] } {
  const path = join(makeFolder(), 'a2a-keys.json')
  return { path, keys: a2aKeys(path).published() }
}

/** A Handrail whose tools peers may call. */
export interface Callee {
  readonly runtime: Runtime
  readonly place: Listening
  readonly server: A2aServer
  readonly log: string[]
}

/** Serves these tools to these peers, on this machine. */
export async function openCallee(
  options: RuntimeOptions,
  {
    peers,
    tools = ['*'],
    place,
  }: { peers: readonly A2aPeer[]; tools?: readonly string[]; place?: Listening },
): Promise<Callee> {
  const listening = place ?? (await listen())
  const runtime = await openRuntime(options)
  const log: string[] = []
  const { url } = listening
  const server = await serveA2a(runtime, { url, tools, peers, log: (line) => log.push(line) })
  listening.answer = (request, response) => void server.handle(request, response)
  atEnd(() => server.close(0))
  return { runtime, place: listening, server, log }
}

/** A Handrail that has the tools of these agents. */
export async function openCaller(
  agents: Readonly<Record<string, A2aAgent>>,
  {
    keysPath,
    issuers,
    ...options
  }: RuntimeOptions & { keysPath: string; issuers?: Readonly<Record<string, string>> },
): Promise<Runtime> {
  const feed = a2aAgents({
    issuer,
    ...(issuers !== undefined && { issuers }),
    agents,
    keys: { path: keysPath },
  })
  const runtime = await openRuntime({ ...options, feeds: [feed] })
  await runtime.settled()
  return runtime
}

/** The card of who listens there. */
export function cardOf({ url }: Pick<Listening, 'url'>): string {
  return new URL('/.well-known/agent-card.json', url).href
}

/** A key that signs what a test makes up. */
export async function makeSigner(kid = 'test-key'): Promise<{ key: CryptoKey; jwk: PublicKey }> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const { x = '' } = await exportJWK(publicKey)
  return { key: privateKey, jwk: { kty: 'OKP', crv: 'Ed25519', kid, x } }
}

/** A token as Handrail makes it, with what a test changes of it. */
export async function makeToken(
  key: CryptoKey | Uint8Array,
  claims: Readonly<Record<string, unknown>>,
  header: { alg?: string; kid?: string; typ?: string } = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000)
  const all = { iss: issuer, iat: now, exp: now + 60, jti: `jti-${crypto.randomUUID()}`, ...claims }
  return new SignJWT(all)
    .setProtectedHeader({ alg: 'EdDSA', kid: 'test-key', typ: 'handrail-call+jwt', ...header })
    .sign(key)
}

/** The claims of a token for a call. */
export function callClaims(audience: string, tool: string, input: unknown): Record<string, unknown> {
  return { aud: audience, does: 'call', tool, input: digestOf(input) }
}

/** SHA-256 of canonical JSON (RFC 8785), for inputs whose keys are in order. */
function digestOf(input: unknown): string {
  return createHash('sha256').update(JSON.stringify(input)).digest('base64url')
}

/** Posts a call as a peer would, and returns what comes back. */
export async function post(
  url: string,
  { token, method = 'SendMessage', params }: { token?: string; method?: string; params: object },
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'a2a-version': '1.0',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return { status: response.status, body: Object(await response.json()) }
}

/** The parameters of a message with one call. */
export function callParams(tool: string, input: unknown): object {
  return {
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { tool, input } }] },
    configuration: { returnImmediately: false },
  }
}
