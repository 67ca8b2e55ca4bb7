import type { UpstreamTransport } from '../../../contract/mcp/upstream.ts'
import { matchHost } from '../../../kit/match/match-host.ts'
import { readHostPattern, showHostPattern } from '../../../kit/match/host-pattern.ts'

type Program = Pick<Extract<UpstreamTransport, { kind: 'stdio' }>, 'args' | 'env'>

/** Ports of what addresses name, where they name none. */
const defaultPorts: { readonly [scheme: string]: number } = {
  http: 80,
  https: 443,
  ws: 80,
  wss: 443,
  postgres: 5432,
  postgresql: 5432,
  mysql: 3306,
  mariadb: 3306,
  mongodb: 27_017,
  redis: 6379,
  rediss: 6379,
  amqp: 5672,
  amqps: 5671,
  bolt: 7687,
  neo4j: 7687,
  clickhouse: 9000,
  sqlserver: 1433,
  mssql: 1433,
  nats: 4222,
  ftp: 21,
}

const address =
  /\b([a-z][a-z0-9+.-]*):\/\/(?:[^\s/@'"]*@)?(\[[0-9a-f:.]+\]|[^\s/:?#'",\\[\]]+)(?::(\d{1,5}))?/gi

/** Hosts with their ports, as patterns, that the arguments and variables of a program name and that these hosts do not cover. */
export function findUnreached({ args, env }: Program, hosts: readonly string[]): string[] {
  const named = [...[...args, ...Object.values(env)].flatMap(addressesIn), ...pairsIn(env)]
  const unreached = named.filter(({ host, port }) => !hosts.some((pattern) => covers(pattern, host, port)))
  return [
    ...new Set(
      unreached.map(({ host, port }) =>
        showHostPattern({ host, port: isOpen(port) && !isOwn(host) ? undefined : port }),
      ),
    ),
  ]
}

interface Named {
  readonly host: string
  readonly port: number
}

function addressesIn(text: string): Named[] {
  return [...text.matchAll(address)].flatMap(([, scheme = '', name = '', given]) => {
    const port = given === undefined ? defaultPorts[scheme.toLowerCase()] : Number(given)
    const host = readHostPattern(name.toLowerCase()).host
    return port === undefined || port < 1 || port > 65_535 || /[${}%]/.test(host) ? [] : [{ host, port }]
  })
}

/** As in `MYSQL_HOST` and `MYSQL_PORT`. */
function pairsIn(env: Program['env']): Named[] {
  return Object.entries(env).flatMap(([name, host]) => {
    const port = Number(/HOST$/i.test(name) ? env[name.replace(/HOST$/i, 'PORT')] : undefined)
    return /^[\w.-]+$/.test(host) && Number.isInteger(port) && port > 0 && port < 65_536
      ? [{ host: host.toLowerCase(), port }]
      : []
  })
}

function covers(text: string, host: string, port: number): boolean {
  const pattern = readHostPattern(text)
  return (
    matchHost(text, host) &&
    (pattern.port === port || (pattern.port === undefined && isOpen(port) && !isOwn(host)))
  )
}

function isOpen(port: number): boolean {
  return port === 80 || port === 443
}

/** Of this machine nothing is reached that does not stand there with its port. */
function isOwn(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}
