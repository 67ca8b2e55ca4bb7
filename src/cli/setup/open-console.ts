import { userInfo } from 'node:os'
import { fileURLToPath } from 'node:url'
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
import { exportEvidence } from '../../evidence/export/export-evidence.ts'
import { openKeyFiles } from '../../evidence/chain/key-files.ts'
import { examineHome } from './examine-home.ts'
import { replayKeptRun } from './replay-kept-run.ts'
import { createVerifier } from './verify-in-thread.ts'
import { wireSimulation } from './wire-simulation.ts'
import type { Places } from './wire.ts'

/** The console of a runtime, for the server to hang on. */
export function openConsole(
  runtime: Runtime,
  { places, servers }: Pick<ConsoleParts, 'servers'> & { readonly places: Places },
): Site {
  const { store } = runtime
  return createConsole({
    runtime,
    servers,
    visits: openVisits(store),
    assets: readAssets(fileURLToPath(ownFile('dist/console'))),
    checker: createSchemaChecker(),
    version: packageVersion(),
    verifier: createVerifier(places),
    replay: async (id, tenant) =>
      replayKeptRun(store, { id, tenant }, { places, runtime: await wireSimulation(places) }),
    exportLines: (about) =>
      exportEvidence(store, { ...about, keys: openKeyFiles(places.keys), at: Date.now() }),
    examine: () => examineHome(places),
    explain: async (call, tenant) =>
      explainCall({ store, call, tenant, runtime: await wireSimulation(places) }),
  })
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
