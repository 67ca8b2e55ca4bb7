import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { policyCasesForm, type PolicyCase } from '../../config/policy-cases.ts'
import type { PolicyBook } from '../../config/policy-file/policy-book.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import type { GatewayConfiguration } from '../../contract/mcp/serving.ts'
import type { Policy } from '../../contract/policy.ts'
import type { Entry } from '../../contract/store.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { showLine } from '../base/show-safely.ts'
import { loadConfiguration, loadFile } from '../../config/load-configuration.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { Site } from '../../contract/mcp/site.ts'
import type { McpFeed } from '../../compose/sources/mcp-tools.ts'
import { explainCall } from '../../compose/replay/explain-call.ts'
import { readAssets } from '../../console/assets.ts'
import type { ConsoleParts } from '../../console/base/console-parts.ts'
import { createConsole } from '../../console/create-console.ts'
import type { Login } from '../../console/entry/open-login.ts'
import { openServerLogins } from '../../console/entry/server-logins.ts'
import { openVisits } from '../../console/entry/visits.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import { ownFile } from '../../kit/own-file.ts'
import { packageVersion } from '../../mcp/server/session/package-version.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { exportEvidence } from '../../evidence/export/export-evidence.ts'
import { openKeyFiles } from '../../evidence/chain/key-files.ts'
import { examineHome } from './examine-home.ts'
import { createTrials } from './open-trial.ts'
import { createVerifier } from './verify-in-thread.ts'
import { wireSimulation } from './wire-simulation.ts'
import { toLogin } from './to-login.ts'
import { readEnvironment, type Places } from './wire.ts'

/** The console on a server that lives while who gets in changes. */
export interface OpenConsole {
  readonly site: Site
  /** Prepares what `gateway.json` says now, and returns what puts it in force. Throws a `SetupError` if that cannot be. */
  prepare(gateway: GatewayConfiguration): () => void
}

/** The console of a runtime, for the server to hang on. */
export function openConsole(
  runtime: Runtime,
  {
    places,
    servers,
    gateway,
    book,
    replay,
    keys,
  }: Pick<ConsoleParts, 'replay'> & {
    readonly servers: ConsoleParts['servers'] & Pick<McpFeed, 'login'>
    readonly places: Places
    readonly gateway: GatewayConfiguration
    /** Names of the environment variables whose values are redacted. */
    readonly keys: readonly string[]
    readonly book: PolicyBook
  },
): OpenConsole {
  const { store } = runtime
  let inForce = { gateway, login: toLogin(gateway) }
  const login = (): Login | undefined => inForce.login
  const site = createConsole({
    runtime,
    servers,
    serverLogins: openServerLogins(servers, store),
    gateway: () => inForce.gateway,
    login,
    visits: openVisits(store, () => inForce.login?.options),
    assets: readAssets(fileURLToPath(ownFile('dist/console'))),
    checker: createSchemaChecker(),
    redactor: createRedactor(keys.flatMap((name) => readEnvironment(name) ?? [])),
    version: packageVersion(),
    verifier: createVerifier(places),
    replay,
    exportLines: (about) =>
      exportEvidence(store, { ...about, keys: openKeyFiles(places.keys), at: Date.now() }),
    examine: () => examineHome(places),
    serverSetup: {
      path: places.mcp,
      openTrial: createTrials(places),
      registry: () => loadConfiguration(places, createSchemaChecker()).configuration.mcpRegistry,
    },
    policy: {
      book,
      inForce: () => readPolicy(places),
      wire: (policy) => wireSimulation(places, policy),
      cases: () => readCases(places.home),
    },
    explain: async (call, tenant) =>
      explainCall({ store, call, tenant, runtime: await wireSimulation(places) }),
  })
  return {
    site,
    prepare(next) {
      const prepared = { gateway: next, login: toLogin(next) }
      return () => {
        const note = toAccessNote(inForce.gateway, next)
        inForce = prepared
        // It holds already: a door that was closed is not opened again for want of a record.
        void keep(note, store)
      }
    },
  }
}

async function keep(note: Entry[], store: Runtime['store']): Promise<void> {
  try {
    await store.append(note)
  } catch (error) {
    const why = showLine(messageOf(error))
    process.stderr.write(`handrail: that gateway.json changed could not be recorded: ${why}\n`)
  }
}

/** What of the gateway changed, by the names of its fields: their values may be secret. */
function toAccessNote(before: GatewayConfiguration, after: GatewayConfiguration): Entry[] {
  const changed = (['tokens', 'oauth', 'console'] as const).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  if (changed.length === 0) return []
  const message = `who may connect or get in is as gateway.json says now: ${changed.join(', ')} changed`
  const about = { event: 'access_changed', tenant: '', session: '', at: Date.now() } as const
  return [{ record: { kind: 'note', ...about, message, data: { changed: [...changed] } }, body: null }]
}

function readPolicy(places: Places): Policy {
  try {
    return loadConfiguration(places, createSchemaChecker()).policy
  } catch (error) {
    if (error instanceof SetupError) return {}
    throw error
  }
}

/** The cases that the person keeps beside the policy; none if that file is missing. */
function readCases(home: string): readonly PolicyCase[] {
  const path = join(home, 'policy-cases.json')
  return existsSync(path) ? loadFile(path, policyCasesForm, createSchemaChecker()).cases : []
}

/** A link that lets the user of this machine into the console, once. */
export async function inviteToConsole({ store }: Pick<Runtime, 'store'>, server: string): Promise<string> {
  const { username } = userInfo()
  const link = await openVisits(store, () => undefined).invite({
    actor: username,
    name: username,
    by: new Map([[everyTenant, 'admin']]),
  })
  return new URL(`/enter?link=${link}`, server).href
}
