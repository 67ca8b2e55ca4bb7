import { basename, dirname, join, resolve } from 'node:path'
import type { ArtifactStore, Store } from '../contract/store.ts'
import type { History } from '../contract/history.ts'
import { createEvidence } from '../evidence/create-evidence.ts'
import { realPlace } from './options/resolve-places.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'

interface StoresRequest {
  options: RuntimeOptions
  now: () => number
  onError: NonNullable<RuntimeOptions['onError']>
}

/** Opens the store, the artifacts, the archive and the evidence over them; closes what a crash left open. Loads only what is asked for. */
export async function openStores({ options, now, onError }: StoresRequest) {
  const tell = (message: string) => onError({ call: '', tool: '', cause: new Error(message) })
  const opened = await openStore(options.store ?? 'memory', now, tell)
  const store =
    options.signing === undefined
      ? opened
      : await openSigned(opened, { dir: options.signing.dir, now, onError })
  const artifacts = await openArtifacts(options)
  const archive =
    options.archive === undefined ? undefined : await openArchive(options.archive, artifacts, onError)
  const history = await openHistory({ options, now, onError })
  const evidence = createEvidence({ store, now, ...(archive !== undefined && { archive }) })
  const recovered = await evidence.recover()
  return {
    store,
    artifacts,
    archive,
    history,
    evidence,
    recovered,
    async close() {
      // A caller that waits for a record was told that it was not written; no caller waits for the rest.
      await evidence.close().catch((cause: unknown) => {
        if (store.readOnly === undefined) onError({ call: '', tool: '', cause })
      })
      await history?.close()
      await store.close()
    },
  }
}

async function openStore(
  given: NonNullable<RuntimeOptions['store']>,
  now: () => number,
  tell: (message: string) => void,
): Promise<Store> {
  if (given === 'memory') {
    const { createMemoryStore } = await import('../stores/memory/create-memory-store.ts')
    return createMemoryStore()
  }
  if ('append' in given) return given
  const { openSqliteStore } = await import('../stores/sqlite/open-sqlite-store.ts')
  return openSqliteStore({ path: given.path, now, onError: tell })
}

async function openArtifacts({ artifacts, store }: RuntimeOptions): Promise<ArtifactStore> {
  if (artifacts !== undefined && 'put' in artifacts) return artifacts
  const path = typeof store === 'object' && 'path' in store ? store.path : undefined
  const dir = artifacts?.dir ?? (path === undefined ? undefined : join(dirname(path), 'artifacts'))
  if (dir === undefined) {
    const { createMemoryArtifacts } = await import('../stores/artifacts/create-memory-artifacts.ts')
    return createMemoryArtifacts()
  }
  const { createDiskArtifacts } = await import('../stores/artifacts/create-disk-artifacts.ts')
  return createDiskArtifacts({ dir })
}

/** What is kept for undo; undefined if it is switched off, or if the store is not on disk and no folder is named. */
async function openHistory({ options, now, onError }: StoresRequest): Promise<History | undefined> {
  const { undo = true, store } = options
  if (undo === false) return undefined
  const given = undo === true ? {} : undo
  const path = typeof store === 'object' && 'path' in store ? store.path : undefined
  const dir = given.dir ?? (path === undefined ? undefined : `${path}.history`)
  if (dir === undefined) return undefined
  const { createDiskHistory } = await import('../stores/history/create-disk-history.ts')
  const whole = resolve(dir)
  return createDiskHistory({
    dir: join(realPlace(dirname(whole)), basename(whole)),
    days: given.days ?? 7,
    bytes: given.bytes ?? 1024 ** 3,
    callBytes: given.callBytes ?? 64 * 1024 ** 2,
    now,
    onError: (cause) => onError({ call: '', tool: '', cause }),
  })
}

async function openSigned(
  store: Store,
  { dir, now, onError }: { dir: string } & Pick<StoresRequest, 'now' | 'onError'>,
): Promise<Store> {
  const { createSignedStore } = await import('../evidence/chain/create-signed-store.ts')
  const { openKeyFiles } = await import('../evidence/chain/key-files.ts')
  const log = (cause: unknown) => onError({ call: '', tool: '', cause })
  const keys = openKeyFiles(resolve(dir))
  const signed = createSignedStore(store, { keys, now, onError: log })
  if (store.readOnly !== undefined) return signed
  const setBack = signed.readOnly === undefined ? [] : [signed.readOnly]
  for (const message of [...keys.issues(), ...setBack]) log(new Error(message))
  return signed
}

async function openArchive(
  { dir, logBytes }: NonNullable<RuntimeOptions['archive']>,
  artifacts: ArtifactStore,
  onError: StoresRequest['onError'],
) {
  const { createRunArchive } = await import('../evidence/archive/create-run-archive.ts')
  return createRunArchive({
    dir,
    logBytes,
    artifacts,
    onError: (cause) => onError({ call: '', tool: '', cause }),
  })
}
