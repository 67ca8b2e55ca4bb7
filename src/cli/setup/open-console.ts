import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadFile } from '../../config/load-configuration.ts'
import { policyCasesForm, type PolicyCase } from '../../config/policy-cases.ts'
import type { PolicyBook } from '../../config/policy-file/policy-book.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { Site } from '../../contract/mcp/site.ts'
import { explainCall } from '../../compose/replay/explain-call.ts'
import { readAssets } from '../../console/assets.ts'
import type { ConsoleParts } from '../../console/base/console-parts.ts'
import { createConsole } from '../../console/create-console.ts'
import { openVisits } from '../../console/entry/visits.ts'
import { ownFile } from '../../kit/own-file.ts'
import { packageVersion } from '../../mcp/server/session/package-version.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { createVerifier } from './verify-in-thread.ts'
import { wireSimulation } from './wire-simulation.ts'
import type { Places } from './wire.ts'

/** The console of a runtime, for the server to hang on. */
export function openConsole(
  runtime: Runtime,
  {
    places,
    servers,
    book,
  }: Pick<ConsoleParts, 'servers'> & { readonly places: Places; readonly book: PolicyBook },
): Site {
  const { store } = runtime
  return createConsole({
    runtime,
    servers,
    visits: openVisits(store),
    assets: readAssets(fileURLToPath(ownFile('dist/console'))),
    checker: createSchemaChecker(),
    version: packageVersion(),
    verify: createVerifier(places),
    policy: {
      book,
      wire: (policy) => wireSimulation(places, policy),
      cases: () => readCases(places.home),
    },
    explain: async (call, tenant) =>
      explainCall({ store, call, tenant, runtime: await wireSimulation(places) }),
  })
}

/** The cases that the person keeps beside the policy; none if there is no such file. */
function readCases(home: string): readonly PolicyCase[] {
  const path = join(home, 'policy-cases.json')
  return existsSync(path) ? loadFile(path, policyCasesForm, createSchemaChecker()).cases : []
}

/** A link that lets the user of this machine into the console, once. */
export async function inviteToConsole({ store }: Pick<Runtime, 'store'>, server: string): Promise<string> {
  const link = await openVisits(store).invite({
    actor: userInfo().username,
    role: 'admin',
    tenant: undefined,
  })
  return new URL(`/enter?link=${link}`, server).href
}
