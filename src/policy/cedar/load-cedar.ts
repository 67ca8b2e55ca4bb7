import type * as engine from '@cedar-policy/cedar-wasm/nodejs'
import { SetupError } from '../../contract/base/errors.ts'
import { importPackage } from '../../kit/import-package.ts'

/** The engine, as its package exports it. */
export type Cedar = typeof engine

/** Loads the engine, which is not installed with Handrail. Throws a SetupError where it is not there. */
export async function loadCedar(): Promise<Cedar> {
  try {
    return await importPackage<Cedar>('@cedar-policy/cedar-wasm/nodejs')
  } catch (cause) {
    const detail = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    throw new SetupError(
      'peer_missing',
      `Cedar decides with the package "@cedar-policy/cedar-wasm", which cannot be loaded (${detail}). Install it: npm install @cedar-policy/cedar-wasm`,
    )
  }
}
