import { userInfo } from 'node:os'
import type { Json } from '../../../contract/json.ts'
import type { HeldDefinition, SchemaUse } from '../../../contract/registry.ts'
import type { Runtime } from '../../../contract/runtime.ts'
import type { JsonSchema } from '../../../contract/schema.ts'
import { isPlainObject } from '../../../kit/is-plain-object.ts'
import { diffSchemas } from '../../../registry/diff-schemas.ts'
import { readText } from '../../caller.ts'
import type { CommandLine } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { showLine, showSafely, writeJson } from '../../show-safely.ts'
import { findPlaces, wireRuntime } from '../../wire.ts'
import type { ToolsVerb } from './verb.ts'

/** Lists the definitions that changed at their source; with a name, lets that one be used. */
export const approveVerb: ToolsVerb = {
  options: ['tenant', 'digest'],
  async run(given, name) {
    const runtime = await wireRuntime(findPlaces(given), undefined)
    try {
      return name === undefined ? list(runtime, given) : await approve(runtime, given, name)
    } finally {
      await runtime.close()
    }
  },
}

function list(runtime: Runtime, given: CommandLine): number {
  const tenant = readText(given, 'tenant')
  const held = runtime.registry.held().filter((each) => tenant === undefined || each.tenant === tenant)
  if (given.options['json'] === true) writeJson(held)
  else
    process.stdout.write(
      `${[...held.map(toPage), held.length === 1 ? '1 definition waits' : `${held.length} definitions wait`].join('\n')}\n`,
    )
  return exitCodes.ok
}

async function approve(runtime: Runtime, given: CommandLine, name: string): Promise<number> {
  const tenant = readText(given, 'tenant')
  const held = runtime.registry.held().find((each) => each.tool === name && each.tenant === tenant)
  const digest = readText(given, 'digest') ?? held?.digest ?? ''
  await runtime.approveDefinition(name, {
    digest,
    by: userInfo().username,
    ...(tenant !== undefined && { tenant }),
  })
  if (given.options['json'] === true) writeJson(held)
  else if (held !== undefined)
    process.stdout.write(`${toPage(held)}\n${showLine(name)} may be used as it is now.\n`)
  return exitCodes.ok
}

/** What changed, in the words of the source: nothing of it may drive a terminal. */
function toPage({ tool, tenant, source, version, digest, changes }: HeldDefinition): string {
  const whose = tenant === undefined ? '' : ` of tenant "${tenant}"`
  const rows = changes.flatMap((change) => [
    `  ${change.field}`,
    ...schemaRows(change),
    `    was  ${JSON.stringify(change.was)}`,
    `    is   ${JSON.stringify(change.is)}`,
  ])
  return showSafely([`${tool} ${version}${whose}, from ${source}, digest ${digest}`, ...rows].join('\n'))
}

const schemaFields: { readonly [field: string]: SchemaUse } = { inputSchema: 'input', outputSchema: 'output' }

/** What changed in a schema, one difference a row, and whether it breaks callers. */
function schemaRows({ field, was, is }: HeldDefinition['changes'][number]): string[] {
  const use = schemaFields[field]
  if (use === undefined) return []
  return diffSchemas(toSchema(was), toSchema(is), use).map(
    ({ kind, pointer, message }) => `    ${kind.padEnd(8)} ${pointer}: ${message}`,
  )
}

/** The schemas of a definition are objects; one that is not there says nothing. */
function toSchema(value: Json): JsonSchema {
  return isPlainObject(value) ? (value as JsonSchema) : {}
}
