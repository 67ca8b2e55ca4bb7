import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule } from 'quickjs-emscripten-core'
import releaseVariant from '@jitl/quickjs-wasmfile-release-sync'

/** What is used of a global that the types of Node do not have. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>
  readonly RuntimeError: new () => Error
}

// What it exports is the variant itself, and not as its types say.
const variant = releaseVariant as unknown as typeof releaseVariant.default

/** Makes engines: each with a memory of its own, from code that is compiled once. */
export async function loadEngine(): Promise<() => Promise<QuickJSWASMModule>> {
  const wasmModule = await WebAssembly.compile(readFileSync(findEngine()))
  const compiled = newVariant(variant, { wasmModule })
  return () => newQuickJSWASMModuleFromVariant(compiled)
}

/** Whether a program broke its engine, or filled the stack of the thread. */
export function isBroken(error: unknown): boolean {
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError
}

/** In the package of the engine, or where the build puts it. */
function findEngine(): string | URL {
  const here = import.meta.url
  return here.endsWith('.ts')
    ? createRequire(here).resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
    : new URL('../workers/quickjs.wasm', here)
}
