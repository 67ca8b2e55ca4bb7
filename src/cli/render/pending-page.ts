import type { Json } from '../../contract/base/json.ts'
import type { PendingDefinition, SchemaChange, SchemaUse } from '../../contract/registry.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { quoteArgv } from '../../kit/text/quote-argv.ts'
import { factsKey } from '../../mcp/upstream/base/import-tool.ts'
import { diffSchemas } from '../../registry/diff/diff-schemas.ts'
import { diffValues, type Difference } from './diff-values.ts'
import { showSafely } from '../base/show-safely.ts'

/** What changed in a definition, place by place, in the words of its source: nothing of it may drive a terminal. */
export function toPendingPage({ tool, tenant, changes }: PendingDefinition): string {
  const whose = tenant === undefined ? '' : ` of tenant "${tenant}"`
  const rows = changes.flatMap(toRows)
  const all = rows.length > 0 ? rows : ['  What is not shown of it changed, such as invisible characters.']
  return showSafely([`${tool}${whose}`, ...all].join('\n'))
}

/** What to type to let exactly this definition be used. */
export function toApproval({ tool, tenant, digest }: PendingDefinition): string {
  const whose = tenant === undefined ? [] : ['--tenant', tenant]
  return `  to let it be used: ${showSafely(quoteArgv(['handrail', 'tools', 'approve', tool, ...whose, '--digest', digest]))}`
}

type Change = PendingDefinition['changes'][number]

/** Stands for all that a server says, and so for what the other differences show. */
const digestOfAll = { field: 'metadata', pointer: `/${factsKey}/seen` }

function toRows(change: Change): string[] {
  const inSchema = diffOfSchema(change)
  const differences = diffValues(change.was, change.is).filter(
    (each) => !isDigest(change, each) && !isTold(each, inSchema),
  )
  if (differences.length === 0 && inSchema.length === 0) return []
  return [
    `  ${change.field}`,
    ...inSchema.map(({ kind, pointer, message }) => `    ${kind.padEnd(8)} ${pointer}: ${message}`),
    ...differences.flatMap(toDifferenceRows),
  ]
}

function isDigest({ field }: Change, { pointer }: Difference): boolean {
  return field === digestOfAll.field && pointer === digestOfAll.pointer
}

/** A short value that a change of the schema tells in full. */
function isTold({ pointer, was, is }: Difference, told: readonly SchemaChange[]): boolean {
  const isShort = [was, is].every((value) => !isPlainObject(value) && JSON.stringify(value ?? 0).length <= 80)
  return isShort && told.some((change) => change.pointer === pointer)
}

function toDifferenceRows({ pointer, was, is }: Difference): string[] {
  const [before, after] =
    typeof was === 'string' && typeof is === 'string' ? cutSame(was, is) : [toText(was), toText(is)]
  const indent = pointer === '' ? '    ' : '      '
  return [
    ...(pointer === '' ? [] : [`    ${pointer}`]),
    ...(was === undefined ? [] : [`${indent}was  ${before}`]),
    `${indent}${is === undefined ? 'gone' : `${was === undefined ? 'new ' : 'is  '} ${after}`}`,
  ]
}

function toText(value: Json | undefined): string {
  return JSON.stringify(value) ?? ''
}

/** How much of what both have is shown before and after what changed. */
const around = 60

/** Two texts without most of what they begin and end with alike, where that is long. */
function cutSame(was: string, is: string): [string, string] {
  const most = Math.min(was.length, is.length)
  let start = 0
  while (start < most && was[start] === is[start]) start++
  let end = 0
  while (end < most - start && was.at(-1 - end) === is.at(-1 - end)) end++
  const cut = (text: string): string => {
    const from = start > 2 * around ? start - around : 0
    const to = end > 2 * around ? text.length - end + around : text.length
    return `${from > 0 ? '…' : ''}${JSON.stringify(text.slice(from, to))}${to < text.length ? '…' : ''}`
  }
  return [cut(was), cut(is)]
}

const schemaFields: { readonly [field: string]: SchemaUse } = { inputSchema: 'input', outputSchema: 'output' }

/** What changed in a schema for those who go by it, and whether that breaks them. */
function diffOfSchema({ field, was, is }: Change): readonly SchemaChange[] {
  const use = schemaFields[field]
  return use === undefined ? [] : diffSchemas(toSchema(was), toSchema(is), use)
}

/** The schemas of a definition are objects; one that is not there says nothing. */
function toSchema(value: Json): JsonSchema {
  return isPlainObject(value) ? (value as JsonSchema) : {}
}
