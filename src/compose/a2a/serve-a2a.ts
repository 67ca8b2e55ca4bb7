import type { A2aServing } from '../../contract/a2a/serving.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { checkFile, gatewayForm } from '../../config/check-file.ts'
import { createEndpointHandler, type HandleEndpoint } from '../../mcp/server/http/answer-endpoint.ts'
import { packageVersion } from '../../mcp/server/session/package-version.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'

/** What is served to peers, and where. */
export interface ServeA2aOptions extends A2aServing {
  /** The URL of the endpoint as peers know it: what their tokens must be made for. Its path is the one that is answered. */
  url: string
  /** Body of one request. Default 4 MiB. */
  maxBodyBytes?: number
  /** Takes one line for the operator, such as why a token was refused. Default: the standard error output. */
  log?: (line: string) => void
}

/** Peers that are served over HTTP. */
export interface A2aServer {
  /** Answers one request of an HTTP server of Node. Never rejects. False, and nothing is answered, for a path that is not of A2A. */
  readonly handle: HandleEndpoint
  /** Other peers and tools, from the next request on. Throws a SetupError if they cannot be; then all stays as it was. */
  change(serving: A2aServing): void
  /** Lets what runs end for so long (default 3,000 ms), and aborts the rest. The runtime and the HTTP server stay open. */
  close(graceMs?: number): Promise<void>
}

/**
 * Puts tools of a runtime behind A2A for peers whose keys are known, as `handrail serve` does. Throws a SetupError for options that cannot be.
 *
 * @example
 * const a2a = await serveA2a(runtime, { url: 'https://b.example/a2a', tools: ['shop.*'], peers: [{ issuer, keys, actor: 'a' }] })
 * createServer((request, response) => void a2a.handle(request, response)).listen(3000)
 */
export async function serveA2a(
  runtime: Runtime,
  { maxBodyBytes = 4 * 1024 * 1024, log = (line) => console.error(line), ...serving }: ServeA2aOptions,
): Promise<A2aServer> {
  checkServing(serving)
  const { a2aPath, createA2aEndpoint } = await import('../../a2a/server/create-a2a-endpoint.ts')
  const { url } = serving
  const endpoint = createA2aEndpoint({ runtime, serving, url, version: packageVersion(), log })
  return {
    handle: createEndpointHandler(endpoint, { own: new URL(url).pathname, as: a2aPath, maxBodyBytes, log }),
    change(next) {
      checkServing(next)
      endpoint.change({ url, ...next })
    },
    close: (graceMs = 3_000) => endpoint.close(graceMs),
  }
}

function checkServing(a2a: A2aServing): void {
  const { issues } = checkFile({ a2a }, gatewayForm, createSchemaChecker())
  if (issues.length > 0) throw new SetupError('invalid_options', 'A2A cannot be served so:', issues)
}
