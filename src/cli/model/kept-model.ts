import type { Runtime } from '../../contract/runtime.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** How the command line made the model of a run, so that the run goes on without being told again. */
export interface KeptModel {
  readonly model: string
  readonly baseUrl?: string
}

type Run = { readonly id: string; readonly tenant: string }

/** What is kept of the model of a run; undefined if a program started it. */
export function findKeptModel(
  { store }: { store: Pick<Runtime['store'], 'documents'> },
  { id, tenant }: Run,
): KeptModel | undefined {
  const [found] = store.documents({ tenant, kind: 'run_model', group: id, id })
  const value = found?.value
  if (!isPlainObject(value) || typeof value['model'] !== 'string') return undefined
  const { model, baseUrl } = value
  return { model, ...(typeof baseUrl === 'string' && { baseUrl }) }
}

/** Keeps it. Rejects if the store cannot be written. */
export async function keepModel(
  { store }: Pick<Runtime, 'store'>,
  { id, tenant }: Run,
  { model, baseUrl }: KeptModel,
): Promise<void> {
  const value = { model, ...(baseUrl !== undefined && { baseUrl }) }
  await store.append([], { documents: [{ tenant, kind: 'run_model', group: id, id, value }] })
}
