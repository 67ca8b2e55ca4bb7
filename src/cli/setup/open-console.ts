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
import { loadConfiguration, loadFile } from '../../config/load-configuration.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { Site } from '../../contract/mcp/site.ts'
import { explainCall } from '../../compose/replay/explain-call.ts'
import { readAssets } from '../../console/assets.ts'
import type { ConsoleParts } from '../../console/base/console-parts.ts'
import { createConsole } from '../../console/create-console.ts'
import type { Login } from '../../console/entry/open-login.ts'
import { openVisits } from '../../console/entry/visits.ts'
import { ownFile } from '../../kit/own-file.ts'
import { packageVersion } from '../../mcp/server/session/package-version.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { exportEvidence } from '../../evidence/export/export-evidence.ts'
import { openKeyFiles } from '../../evidence/chain/key-files.ts'
import { examineHome } from './examine-home.ts'
import { replayKeptRun } from './replay-kept-run.ts'
import { createTrials } from './open-trial.ts'
import { createVerifier } from './verify-in-thread.ts'
import { wireSimulation } from './wire-simulation.ts'
import { toLogin } from './to-login.ts'
import type { Places } from './wire.ts'

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
  }: Pick<ConsoleParts, 'servers'> & {
    readonly places: Places
    readonly gateway: GatewayConfiguration
    readonly book: PolicyBook
  },
): OpenConsole {
  const { store } = runtime
  let inForce = { gateway, login: toLogin(gateway) }
  const login = (): Login | undefined => inForce.login
  const site = createConsole({
    runtime,
    servers,
    gateway: () => inForce.gateway,
    login,
    visits: openVisits(store, () => inForce.login?.options),
    assets: readAssets(fileURLToPath(ownFile('dist/console'))),
    checker: createSchemaChecker(),
    version: packageVersion(),
    verifier: createVerifier(places),
    replay: async (id, tenant) =>
      replayKeptRun(store, { id, tenant }, { places, runtime: await wireSimulation(places) }),
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
        inForce = prepared
      }
    },
  }
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
