import type { Issue } from '../../contract/base/json.ts'
import type { SchemaKind } from '../../contract/base/schema.ts'
import { checkAny } from '../compile/check-any.ts'
import { describeValue, quote } from '../base/describe.ts'
import { inspectCircles } from './inspect-circles.ts'
import { inspectConsistency } from './inspect-consistency.ts'
import { inspectKeywordName } from './inspect-keyword-name.ts'
import { createInspection, reportInvalid, type Inspection } from '../base/inspection.ts'
import { isKeywords } from '../base/is-keywords.ts'
import { inspectShape, patternShape } from './keyword-shapes.ts'
import { fullKeywords, olderKeywords, plainKeywords, subsetKeywords, type Below } from '../base/keywords.ts'
import { limits } from '../base/limits.ts'
import { isLocal, tokensOf } from '../base/references.ts'
import { createRun, issuesOf, inPart, report, type Run } from '../base/run.ts'

/**
 * Issues of a schema itself, by what its kind may be. References that leave the document are refused everywhere. The work is bounded,
 * also for cyclic objects.
 */
export function inspectSchema(schema: unknown, kind: SchemaKind): readonly Issue[] {
  const inspection = createInspection(schema, kind)
  inspectNode(schema, inspection)
  // Grows while it is walked: what is referred to may refer to more.
  for (const reference of inspection.references) inspectTarget(reference, inspection)
  if (inspection.references.length > 0) inspectDocuments(inspection)
  if (kind === 'own' && inspection.run.issueCount === 0) inspectCircles(inspection)
  return issuesOf(inspection.run)
}

/** A reference below an `$id` starts from there, and one from outside may mean it. */
function inspectDocuments({ run, ownDocuments }: Inspection): void {
  for (const path of ownDocuments) {
    run.path.push(...path)
    report(run, 'unsupported_schema', {
      token: '$id',
      message: () => 'It makes this part a document of its own, which references may mean; remove it.',
    })
    run.path.length = 0
  }
}

/** As `inspectSchema`, for the schema of a tool's input or output: it must also be of type object. */
export function inspectObjectSchema(schema: unknown, kind: SchemaKind): readonly Issue[] {
  const issues = inspectSchema(schema, kind)
  if (!isKeywords(schema) || schema['type'] === 'object' || issues.some((issue) => issue.pointer === '/type'))
    return issues
  return [
    { pointer: '/type', code: 'invalid_schema', message: 'The type must be "object" at the top.' },
    ...issues,
  ]
}

/** Keywords with schemas that speak about the fields of the same object. */
const combining: ReadonlySet<string> = new Set([
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'patternProperties',
  'propertyNames',
  'dependentSchemas',
])

function inspectNode(schema: unknown, inspection: Inspection): void {
  const { run, kind } = inspection
  if (typeof schema === 'boolean' && kind !== 'native') return
  if (typeof schema === 'boolean')
    return report(run, 'unsupported_schema', {
      message: () => `A schema that is ${schema} is not part of the supported subset; leave the keyword out.`,
    })
  if (!isKeywords(schema))
    return reportInvalid(run, `A schema must be an object; found ${describeValue(schema)}.`)
  if (!mayEnter(inspection)) return
  inspection.seen.add(schema)
  const { $id } = schema
  if (inspection.depth > 0 && typeof $id === 'string' && !isLocal($id))
    inspection.ownDocuments.push([...run.path])
  inspection.depth++
  const isCombined = Object.keys(schema).some((keyword) => combining.has(keyword))
  if (isCombined) inspection.combined++
  const before = run.issueCount
  for (const keyword of Object.keys(schema))
    if (schema[keyword] !== undefined) inspectKeyword(keyword, schema[keyword], inspection)
  if (kind !== 'imported' && run.issueCount === before)
    inspectConsistency(schema, { run, isCombined: inspection.combined > 0 })
  if (isCombined) inspection.combined--
  inspection.depth--
}

function mayEnter(inspection: Inspection): boolean {
  const { run } = inspection
  if (inspection.nodes <= 0) return false
  const tooDeep = inspection.depth > limits.depth
  inspection.nodes = tooDeep ? 0 : inspection.nodes - 1
  if (inspection.nodes > 0) return true
  const message = tooDeep
    ? `The schema is nested more than ${limits.depth} levels deep, or contains itself.`
    : `The schema holds more than ${limits.schemaNodes} schemas; make it smaller.`
  report(run, tooDeep ? 'too_deep' : 'too_large', { message: () => message })
  return false
}

function inspectKeyword(keyword: string, value: unknown, inspection: Inspection): void {
  const { run, kind } = inspection
  if (!isAllowed(keyword, kind)) return inspectKeywordName(keyword, { kind, run })
  // Servers elsewhere may mean something of their own by it.
  if (kind === 'imported' && keyword === 'x-classification') return
  const below = belowOf(keyword, value, kind)
  if (below === undefined) return
  run.path.push(keyword)
  if (below === 'none') inspectValue(keyword, value, inspection)
  else inspectBelow(below, { keyword, value, inspection })
  run.path.pop()
}

function isAllowed(keyword: string, kind: SchemaKind): boolean {
  if (kind === 'imported' || subsetKeywords.has(keyword)) return true
  return (
    kind === 'own' && (plainKeywords.has(keyword) || (fullKeywords.has(keyword) && keyword !== '$dynamicRef'))
  )
}

function belowOf(keyword: string, value: unknown, kind: SchemaKind): Below | undefined {
  if (keyword === 'items' && Array.isArray(value) && kind === 'imported') return 'list'
  return subsetKeywords.get(keyword) ?? fullKeywords.get(keyword) ?? olderKeywords.get(keyword)
}

interface Part {
  keyword: string
  value: unknown
  inspection: Inspection
}

function inspectBelow(below: Below, { keyword, value, inspection }: Part): void {
  const { run } = inspection
  if (below === 'schema') {
    if (typeof value !== 'boolean' || keyword !== 'additionalProperties') inspectNode(value, inspection)
  } else if (below === 'list') {
    if (!Array.isArray(value) || (value.length === 0 && keyword !== 'items'))
      return reportInvalid(run, 'It must be an array with at least one schema.')
    for (const [index, part] of value.entries()) inPart(run, index, () => inspectNode(part, inspection))
  } else {
    if (!isKeywords(value)) return reportInvalid(run, 'It must be an object of schemas.')
    // What is defined here counts wherever it is named.
    if (keyword === '$defs') inspection.combined++
    for (const name of Object.keys(value)) inspectNamed(name, { keyword, value: value[name], inspection })
    if (keyword === '$defs') inspection.combined--
  }
}

function inspectNamed(name: string, { keyword, value, inspection }: Part): void {
  const { run } = inspection
  if (name === '__proto__') return reportForbidden(run, name)
  const wrong = keyword === 'patternProperties' ? patternShape(name) : undefined
  if (wrong !== undefined) reportInvalid(run, wrong, name)
  inPart(run, name, () => inspectNode(value, inspection))
}

function reportForbidden(run: Run, name: string): void {
  report(run, 'forbidden_key', {
    token: name,
    message: () => `The name ${quote(name)} is never allowed; rename it.`,
  })
}

function inspectValue(keyword: string, value: unknown, inspection: Inspection): void {
  const { run } = inspection
  if (keyword === '$ref' || keyword === '$dynamicRef') return inspectReference(value, inspection)
  if (!inspectJson(value, run) || isOlderForm(keyword, value, inspection)) return
  const wrong = keyword === 'dependencies' ? undefined : inspectShape(keyword, value)
  if (wrong !== undefined) reportInvalid(run, wrong)
  if (keyword === 'dependencies') inspectDependencies(value, inspection)
  if (keyword === 'dependentRequired') inspectRequiredNames(value, run)
  if (keyword === 'required' && Array.isArray(value) && value.includes('__proto__'))
    reportForbidden(run, '__proto__')
}

/** Whether the value is JSON that is not too deep; reports where it is not. */
function inspectJson(value: unknown, run: Run): boolean {
  const own = createRun(false)
  checkAny(value, own)
  const [first] = own.issues
  if (first === undefined) return true
  const place = first.pointer === '' ? '' : `At ${first.pointer}: `
  reportInvalid(run, place + first.message)
  return false
}

/** Drafts 3 and 4 have booleans where later ones have bounds and names, a type for any value, and enums without values. */
function isOlderForm(keyword: string, value: unknown, { kind }: Inspection): boolean {
  if (kind !== 'imported') return false
  if (keyword === 'type') return [value].flat().includes('any')
  if (keyword === 'enum') return Array.isArray(value) && value.length === 0
  if (typeof value !== 'boolean') return false
  return keyword === 'exclusiveMinimum' || keyword === 'exclusiveMaximum' || keyword === 'required'
}

function inspectDependencies(value: unknown, inspection: Inspection): void {
  if (!isKeywords(value)) return reportInvalid(inspection.run, 'It must be an object.')
  const schemas = Object.entries(value).filter(([, part]) => !Array.isArray(part))
  const names = Object.entries(value).filter(([, part]) => Array.isArray(part))
  inspectBelow('map', { keyword: 'dependencies', value: Object.fromEntries(schemas), inspection })
  inspectRequiredNames(Object.fromEntries(names), inspection.run)
}

function inspectRequiredNames(value: unknown, run: Run): void {
  if (!isKeywords(value)) return reportInvalid(run, 'It must be an object of arrays of strings.')
  for (const [name, required] of Object.entries(value)) {
    const wrong = inspectShape('required', required)
    if (wrong !== undefined) reportInvalid(run, wrong, name)
  }
}

function inspectReference(value: unknown, inspection: Inspection): void {
  const { run } = inspection
  if (typeof value !== 'string') return reportInvalid(run, 'It must be a string.')
  if (!isLocal(value))
    return report(run, 'unsupported_schema', {
      message: () => `The reference ${quote(value)} leaves the schema; put what it names into "$defs".`,
    })
  const target = inspection.resolve(value)
  if (typeof target !== 'boolean' && !isKeywords(target))
    return reportInvalid(run, `The reference ${quote(value)} names no schema.`)
  inspection.references.push(value)
}

/** A reference may name a place that is not a schema by itself, such as one below an unknown keyword. */
function inspectTarget(reference: string, inspection: Inspection): void {
  const target = inspection.resolve(reference)
  if (typeof target !== 'object' || target === null || inspection.seen.has(target)) return
  const { path } = inspection.run
  path.push(...tokensOf(reference))
  inspectNode(target, inspection)
  path.length = 0
}
