import type { Runtime } from '../contract/runtime.ts'
import { requireOptions } from '../kit/json/find-wrong-kinds.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'

/**
 * Puts a runtime together: registry, policy, sandbox, store and evidence around one project folder. Everything wrong with the
 * options, the policy and the tools is thrown at once as a SetupError. Close it: that aborts what runs, disposes
 * the tools and makes the evidence durable.
 *
 * @example
 * const runtime = await createRuntime({ project: '.', tools: [codeTools(), greet], store: { path: 'handrail.db' } })
 * const session = runtime.session()
 * const result = await session.call('demo.greet', { name: 'Ada' })
 * await runtime.close()
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  requireOptions(options, 'createRuntime')
  // Loaded by the first runtime: a program that only defines tools, or imports more than it uses, waits for none of it.
  const { assembleRuntime } = await import('./assemble-runtime.ts')
  return assembleRuntime(options, options.hooks)
}
