import { readRecord } from '../../kit/result/read-record.ts'
import { accessSync, constants, existsSync, statSync, statfsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { gatewayPath } from '../../config/gateway-parts.ts'
import { loadConfiguration } from '../../config/load-configuration.ts'
import { loadPrices } from '../../config/prices.ts'
import { loadGateway } from '../../config/load-gateway.ts'
import { loadUpstreams } from '../../config/servers/load-upstreams.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { GatewayConfiguration } from '../../contract/mcp/serving.ts'
import type { Store } from '../../contract/store.ts'
import { readToolFolder } from '../../declarative/read-tool-folder.ts'
import { openKeyFiles } from '../../evidence/chain/key-files.ts'
import type { Finding } from '../../sandboxes/doctor/finding.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { ownFile } from '../../kit/own-file.ts'
import { countOf } from '../render/count-of.ts'
import { describeWorktrees } from './look-at-worktrees.ts'
import { toKnown } from '../../compose/sources/declarative-tools.ts'
import { ownSources, type Places } from './wire.ts'
import { toLogin } from './to-login.ts'
import type { Login } from '../../console/entry/open-login.ts'
import { describeCause } from '../../kit/text/describe-cause.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** What was found of one thing: all well, or what is wrong. */
type Look = Pick<Finding, 'holds' | 'detail'>

const well = (detail: string): Look => ({ holds: true, detail })
const wrong = (detail: string): Look => ({ holds: false, detail })

/** What holds of a person's home: what calls would fail on. Nothing is made or changed. */
export async function examineHome(places: Places): Promise<Finding[]> {
  const { newest, worktrees, ...store } = await lookAtStore(places)
  const looks: Readonly<Record<string, Look>> = {
    configuration: lookAtConfiguration(places),
    home: lookAtHome(places.home),
    space: lookAtSpace(places.home),
    clock: lookAtClock(newest),
    store,
    keys: lookAtKeys(places.keys),
    tools: lookAtTools(places.tools),
    servers: lookAtServers(places.mcp),
    login: await lookAtLogin(places),
    worktrees: well(worktrees ?? 'none left by agents'),
  }
  return Object.entries(looks).map(([id, look]) => ({ id, needed: true, ...look }))
}

function lookAtConfiguration(places: Places): Look {
  const checker = createSchemaChecker()
  try {
    const { files } = loadConfiguration(places, checker)
    loadGateway(places.home, checker)
    loadPrices(places.prices, checker)
    const all = [...files, ...[gatewayPath(places.home), places.prices].filter(existsSync)]
    return well(all.length === 0 ? 'none, so the safe defaults decide' : `${all.join(', ')}: no issue`)
  } catch (error) {
    return wrong(describeError(error))
  }
}

/** Whether persons can log in to the console. What else is wrong with the file is told of the configuration. */
async function lookAtLogin({ home }: Places): Promise<Look> {
  let gateway: GatewayConfiguration
  try {
    gateway = loadGateway(home, createSchemaChecker())
  } catch {
    return well('not known while the configuration cannot be used')
  }
  let login: Login | undefined
  try {
    login = toLogin(gateway)
  } catch (error) {
    return wrong(describeError(error))
  }
  if (login === undefined) return well('by links of "handrail console" alone')
  try {
    await login.discover()
    return well(`at ${login.options.issuer}, back to ${login.url}/enter/callback`)
  } catch (error) {
    return wrong(
      `nobody can log in to the console: ${login.options.issuer} cannot be used (${describeCause(error)}). Check the issuer under console.login of gateway.json, and that this machine reaches it`,
    )
  }
}

function lookAtHome(home: string): Look {
  if (!existsSync(home)) return well(`${home} is made by the first call`)
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    return wrong(
      `${home} cannot be written (${codeOf(error)}), so no call can be recorded or run. Mend its permissions, or name another one with HANDRAIL_HOME`,
    )
  }
  const isOpen = (statSync(home).mode & 0o022) !== 0
  return isOpen
    ? wrong(`others can write to ${home}, and so to your policy: chmod go-w ${home}`)
    : well(`${home} can be written by you alone`)
}

const leastBytes = 64 * 1024 * 1024

function lookAtSpace(home: string): Look {
  let folder = home
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const shown = `${Math.floor(free / (1024 * 1024))} MiB free at ${folder}`
  return free < leastBytes ? wrong(`${shown}: calls are denied when nothing can be written`) : well(shown)
}

const dayMs = 86_400_000

/** A clock far off makes consents, tokens and budgets end at the wrong time. */
function lookAtClock(newestRecord: number | undefined): Look {
  const now = Date.now()
  const made = statSync(ownFile('package.json')).mtimeMs
  const shown = new Date(now).toISOString()
  if (now < made - dayMs)
    return wrong(`it says ${shown}, which is before this Handrail was installed. Set it`)
  if (newestRecord !== undefined && now < newestRecord - dayMs)
    return wrong(
      `it says ${shown}, and the newest record is of ${new Date(newestRecord).toISOString()}. Set it`,
    )
  return well(shown)
}

/** What else the store tells. */
interface LookedUp {
  newest?: number
  worktrees?: string
}

async function lookAtStore({ store: path }: Places): Promise<Look & LookedUp> {
  if (!existsSync(path)) return well(`${path} is made by the first call`)
  try {
    const { openSqliteStore } = await import('../../stores/sqlite/open-sqlite-store.ts')
    const store = await openSqliteStore({ path })
    try {
      return { ...describeStore(store, path), worktrees: describeWorktrees(store) }
    } finally {
      await store.close()
    }
  } catch (error) {
    return wrong(describeError(error))
  }
}

function describeStore(store: Store, path: string): Look & LookedUp {
  const heads = store.tenants().map((tenant) => store.head(tenant)?.sequence ?? 0)
  const records = heads.reduce((sum, sequence) => sum + sequence, 0)
  const times = store
    .tenants()
    .flatMap((tenant) =>
      [...store.records({ tenant, newestFirst: true, limit: 1 })].map(({ text }) => readRecord(text).at),
    )
  const newest = times.length === 0 ? {} : { newest: Math.max(...times) }
  if (store.readOnly !== undefined) return { ...wrong(store.readOnly), ...newest }
  return {
    ...well(`${path}, ${countOf(records, 'record')}; "handrail evidence verify" checks them`),
    ...newest,
  }
}

function lookAtKeys(dir: string): Look {
  try {
    const keys = openKeyFiles(dir)
    const issues = keys.issues()
    if (issues.length > 0) return wrong(issues.join(' '))
    const key = keys.currentKey()
    return well(key === undefined ? `none in ${dir} yet; the first is made by a call` : `${key.id} signs`)
  } catch (error) {
    return wrong(describeError(error))
  }
}

function lookAtTools(folder: string): Look {
  const { tools, faulty } = readToolFolder(folder, {
    checker: createSchemaChecker(),
    env: process.env,
    known: toKnown(ownSources()),
  })
  if (faulty.length === 0)
    return well(
      tools.length === 0 ? `none of your own in ${folder}` : `${countOf(tools.length, 'tool')} in ${folder}`,
    )
  return wrong(`${faulty.map(({ path }) => path).join(', ')} cannot be used; "handrail tools check" says why`)
}

function lookAtServers(path: string): Look {
  const { servers, faulty } = loadUpstreams(path, { checker: createSchemaChecker(), home: homedir() })
  if (faulty.length === 0 && servers.length === 0) return well(`no MCP server in ${path}`)
  if (faulty.length === 0)
    return well(`${countOf(servers.length, 'MCP server')} in ${path}; "handrail mcp status" connects to them`)
  const issues = faulty.flatMap((each) => each.issues.map(({ pointer, message }) => `${pointer}: ${message}`))
  return wrong(issues.join(' '))
}

function describeError(error: unknown): string {
  if (error instanceof SetupError && error.issues.length > 0)
    return error.issues.map(({ pointer, message }) => `${pointer}: ${message}`).join(' ')
  return messageOf(error)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
