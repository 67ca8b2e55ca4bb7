/** Where programs find the proxy: on the loopback of their own sandbox. */
const port = 3128
/** Where the bridge finds the socket of the proxy. */
export const socketInside = '/dev/shm/handrail-proxy'

/**
 * Hands each connection to a port of the sandbox on to a socket, and nothing else: what may be reached is decided behind the socket.
 * Says `ready` when it listens and the socket answered, and then gives up its output.
 */
const script = `
const { closeSync, openSync, writeSync } = require('node:fs')
const { connect, createServer } = require('node:net')
const [path, port] = process.argv.slice(1)
const join = (from, to) => {
  from.pipe(to)
  from.on('error', () => to.destroy())
  from.on('close', () => (from.readableEnded ? to.end() : to.destroy()))
}
const server = createServer({ allowHalfOpen: true, noDelay: true }, (from) => {
  const to = connect({ path, allowHalfOpen: true })
  join(from, to)
  join(to, from)
})
server.listen(Number(port), '127.0.0.1', () =>
  connect(path).once('data', () => {
    writeSync(1, 'ready')
    closeSync(1)
    openSync('/dev/null', 'w')
  }))
`

/** The argument list of the bridge, for this Node. */
export function bridgeArguments(node: string): string[] {
  return [node, '--v8-pool-size=0', '-e', script, socketInside, String(port)]
}

/** What tells programs of the proxy, under each name that some of them know. Servers of their own they reach without it. */
export function proxyEnvironment(): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`
  const own = 'localhost,127.0.0.1,::1'
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: own,
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: own,
    // Node looks at the others only where this is set.
    NODE_USE_ENV_PROXY: '1',
  }
}
