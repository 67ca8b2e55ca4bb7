import { SetupError } from '../../contract/base/errors.ts'
import type { Issue, JsonObject } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import type { Tool, ToolDefinition } from '../../contract/tool/tool.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { describeSchema, type InputSchema } from '../describe-schema.ts'
import { closeObjectSchema, toObjectSchema } from '../../schema/normalise/to-object-schema.ts'
import { refuseFaulty, toDefinition, type ManifestSpec } from '../to-definition.ts'
import { checkParts, definitionsOf, toSources } from './check-parts.ts'
import { checkTemplate, schemaOf } from './check-template.ts'
import type { Composition } from './composed-parts.ts'
import { orderParts, type SpecifiedPart } from './order-parts.ts'
import { planComposition } from './plan-composition.ts'
import { runComposition } from './run-composition.ts'
import { referencesOf, type Reference, type Template } from './template.ts'
import { uniteEffects } from './unite-effects.ts'

/** One part of a composition. */
export interface PartSpec<Part extends string = string> {
  /** The tool, or its definition, such as that of a built-in one in `runtime.registry`. */
  readonly tool: Tool | ToolDefinition
  /** What it is called with. Default: no fields. */
  readonly input?: Template<Part>
  /** Parts that have to end before it, beside those that it has values from. */
  readonly after?: readonly Part[]
}

/** Tools as one tool. What it may do is what its parts may; unknown fields are refused. */
export interface CompositionSpec<Part extends string = string> extends Pick<
  ManifestSpec,
  | 'name'
  | 'namespace'
  | 'title'
  | 'version'
  | 'description'
  | 'tags'
  | 'metadata'
  | 'compatibility'
  | 'deprecations'
> {
  /** What the composition takes: a JSON Schema, or any Standard Schema that emits JSON Schema. Default: nothing. */
  readonly input?: InputSchema
  /** By their names, each a name that references use. */
  readonly parts: { readonly [part in Part]: PartSpec<NoInfer<Part>> }
  /** What it returns. Default: what the last part returned. */
  readonly output?: Template<NoInfer<Part>>
}

/** A value of the input of a composition (`input`), or of what a part returned, at an RFC 6901 pointer. */
export function valueFrom<const Source extends string>(
  source: Source,
  at = '',
  options: { readonly unchecked?: boolean } = {},
): Reference<Source> {
  return {
    from: source,
    ...(at !== '' && { at }),
    ...(options.unchecked === true && { unchecked: true as const }),
  }
}

/**
 * Makes one tool of several: a chain, or a graph. Whatever a part takes from the input or from another part is held against schemas here: throws a
 * SetupError with every mismatch, each with its pointer into the spec.
 *
 * @example
 * const publish = composeTools({
 *   name: 'docs.publish',
 *   description: 'Renders a page and publishes it.',
 *   input: z.object({ path: z.string() }),
 *   parts: {
 *     page: { tool: renderPage, input: { path: valueFrom('input', '/path') } },
 *     upload: { tool: uploadPage, input: { html: valueFrom('page', '/html') } },
 *   },
 * })
 */
export function composeTools<const Part extends string>(spec: CompositionSpec<Part>): Tool {
  refuseFaulty(spec, findMalformed(spec))
  const { schema, parse } = describeSchema(spec.input ?? noInput)
  const inputSchema = closeObjectSchema(toObjectSchema(schema))
  const composition = toComposition(spec, inputSchema)
  const issues = checkParts(composition)
  refuseFaulty(spec, issues)
  const definitions = definitionsOf(composition.parts)
  const sources = toSources(composition)
  refuseFaulty(spec, checkTemplate(composition.output, {}, { sources, pointer: '/output' }))
  const output = schemaOf(composition.output, sources)
  const united = uniteEffects([...definitions.values()])
  return {
    definition: toDefinition(
      { ...united, ...pickManifest(spec), tags: [...(united.tags ?? []), ...(spec.tags ?? [])] },
      { input: inputSchema, output, needs: ['parts'] },
    ),
    composedOf: Object.fromEntries([...definitions].map(([part, { name }]) => [part, name])),
    decode(input) {
      parse?.(input)
      return input
    },
    plan: (input, context) => planComposition(composition, input as JsonObject, context),
    run: (input, context) => runComposition(composition, input as JsonObject, context),
  }
}

const noInput = { type: 'object', properties: {}, additionalProperties: false } as const

const fields = [
  'name',
  'namespace',
  'title',
  'version',
  'description',
  'tags',
  'metadata',
  'compatibility',
  'deprecations',
  'input',
  'parts',
  'output',
] as const satisfies readonly (keyof CompositionSpec)[]

function pickManifest({ input: _i, parts: _p, output: _o, ...manifest }: CompositionSpec): ManifestSpec {
  return manifest
}

function findMalformed(spec: CompositionSpec): Issue[] {
  const unknown = findUnknownFields(spec, fields, elsewhere)
  if (!isPlainObject(spec.parts) || Object.keys(spec.parts).length === 0)
    return [
      ...unknown,
      { pointer: '/parts', code: 'missing_field', message: 'Give at least one part, by its name.' },
    ]
  return [
    ...unknown,
    ...Object.entries(spec.parts).flatMap(([part, given]) => findMalformedPart(part, given)),
    ...(spec.output === undefined ? [] : findMalformedReferences(spec.output, '/output')),
  ]
}

/** The effects of a composition are no choice of its author. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ['steps', 'parts'],
  ['tools', 'parts'],
])

function findMalformedPart(part: string, given: PartSpec): Issue[] {
  const pointer = pointerTo('/parts', part)
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(part) || part === 'input')
    return [
      {
        pointer,
        code: 'invalid_name',
        message: `"${part}" is not a name of a part: use up to 64 letters, digits, "_" and "-", not "input".`,
      },
    ]
  if (!isPlainObject(given) || definitionOf(given.tool) === undefined)
    return [
      {
        pointer: `${pointer}/tool`,
        code: 'missing_field',
        message: 'Give a tool, or the definition of one.',
      },
    ]
  return [
    ...findUnknownFields(given, ['tool', 'input', 'after'], new Map()).map((issue) => ({
      ...issue,
      pointer: `${pointer}${issue.pointer}`,
    })),
    ...(given.input === undefined ? [] : findMalformedReferences(given.input, `${pointer}/input`)),
  ]
}

function findMalformedReferences(template: Template, place: string): Issue[] {
  return referencesOf(template, place).flatMap(({ reference, pointer }) => {
    const { from: source, at = '', unchecked = true, ...others } = reference
    const isFine =
      typeof source === 'string' &&
      typeof at === 'string' &&
      (at === '' || at.startsWith('/')) &&
      unchecked === true &&
      Object.keys(others).length === 0
    const message =
      'A reference is { "from": "input" or a part, "at": "/pointer", "unchecked": true }. Write { "literal": … } for a value that has a field "from".'
    return isFine ? [] : [{ pointer, code: 'invalid_reference', message }]
  })
}

function definitionOf(tool: Tool | ToolDefinition): ToolDefinition | undefined {
  if (!isObjectLike(tool)) return undefined
  if ('definition' in tool) return tool.definition
  return 'inputSchema' in tool ? tool : undefined
}

/** What a part returns in the end. */
function returnsOf(tool: Tool | ToolDefinition): JsonSchema | undefined {
  if (!('definition' in tool)) return tool.outputSchema
  return tool.long === undefined ? tool.definition.outputSchema : tool.long.outputSchema
}

function isObjectLike(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function toComposition(spec: CompositionSpec, inputSchema: Composition['inputSchema']): Composition {
  const name = spec.namespace === undefined ? spec.name : `${spec.namespace}.${spec.name}`
  const specified = Object.entries<PartSpec>(spec.parts).map(([part, { input = {}, after = [] }]) => ({
    part,
    input,
    after,
  }))
  const output = spec.output ?? { from: specified.at(-1)?.part ?? '', ...lastUnchecked(spec) }
  const ordered = orderParts(specified, output)
  if (!isOrdered(ordered))
    throw new SetupError('invalid_definition', `"${spec.name}" cannot be a tool:`, ordered)
  return {
    name,
    inputSchema,
    output,
    parts: ordered.map((each) => {
      const definition = definitionOf(toolOf(spec, each.part))
      if (definition === undefined) throw new Error('A part without a definition was let through.')
      return { ...each, definition, returns: returnsOf(toolOf(spec, each.part)) }
    }),
  }
}

function isOrdered(ordered: SpecifiedPart[] | Issue[]): ordered is SpecifiedPart[] {
  return ordered.every((each) => 'part' in each)
}

function toolOf({ parts }: CompositionSpec, part: string): PartSpec['tool'] {
  const found = parts[part]
  if (found === undefined) throw new Error(`There is no part "${part}".`)
  return found.tool
}

/** What the last part returns goes back as it is, whether or not it says what that is. */
function lastUnchecked({ parts }: CompositionSpec): { unchecked?: true } {
  const last = Object.values<PartSpec>(parts).at(-1)
  return last !== undefined && returnsOf(last.tool) === undefined ? { unchecked: true } : {}
}
