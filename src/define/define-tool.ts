import type { Issue } from '../contract/base/json.ts'
import type { Plan } from '../contract/tool/plan.ts'
import type { Tool } from '../contract/tool/tool.ts'
import { assembleTool } from './assemble-tool.ts'
import type { InputSchema } from './describe-schema.ts'
import { findNoFunctions, requireOptions } from '../kit/json/find-wrong-kinds.ts'
import { refuseFaulty, refuseUnknownSpec } from './to-definition.ts'
import type { AnySpec, NoInputSpec, RawSpec, ServiceName, TypedSpec } from './tool-spec.ts'

/** Makes a tool that takes its checked input as plain JSON. */
export function defineTool<const Needs extends ServiceName = never, Planning extends Plan = Plan>(
  spec: RawSpec<Needs, Planning>,
): Tool
/** Makes a tool without input. */
export function defineTool<const Needs extends ServiceName = never>(spec: NoInputSpec<Needs>): Tool
/**
 * Makes a tool from a manifest and a function. Four forms: typed input with any JSON value or a `toolOutput` as result, no
 * input, and raw input. Throws a SetupError where a schema cannot be turned into JSON Schema; everything else
 * is checked when the tool is registered.
 *
 * @example
 * const greet = defineTool({
 *   name: 'demo.greet',
 *   description: 'Greets somebody by name.',
 *   permission: 'readonly',
 *   input: z.object({ name: z.string() }),
 *   run: ({ name }) => `Hello, ${name}!`,
 * })
 */
export function defineTool<
  const Schema extends InputSchema,
  const Needs extends ServiceName = never,
  Planning extends Plan = Plan,
>(spec: TypedSpec<Schema, Needs, Planning>): Tool
export function defineTool(spec: AnySpec): Tool {
  requireOptions(spec, 'defineTool')
  refuseUnknownSpec(spec, ownFields)
  refuseFaulty(spec, findMissingRun(spec))
  refuseFaulty(spec, findNoFunctions(spec, ['run', 'plan', 'dispose']))
  refuseFaulty(spec, findWrongDefer(spec))
  return assembleTool(spec)
}

function findWrongDefer({ defer }: { defer?: unknown }): Issue[] {
  if (defer === undefined || typeof defer === 'boolean') return []
  return [{ pointer: '/defer', code: 'wrong_type', message: 'Give true or false.' }]
}

function findMissingRun({ run }: Partial<AnySpec>): Issue[] {
  if (run !== undefined) return []
  const message = 'The field "run" is missing; give the function that does what the tool is for.'
  return [{ pointer: '/run', code: 'missing_field', message }]
}

const ownFields: readonly (keyof AnySpec)[] = [
  'input',
  'rawInput',
  'wireCase',
  'output',
  'needs',
  'compatible',
  'defer',
  'plan',
  'run',
  'dispose',
]
