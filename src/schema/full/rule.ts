import type { Issue } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { report, type Run } from '../base/run.ts'

type Below =
  | 'allOf'
  | 'anyOf'
  | 'oneOf'
  | 'not'
  | 'if'
  | 'then'
  | 'else'
  | 'properties'
  | 'patternProperties'
  | 'additionalProperties'
  | 'propertyNames'
  | 'dependentSchemas'
  | 'unevaluatedProperties'
  | 'prefixItems'
  | 'items'
  | 'contains'
  | 'unevaluatedItems'

/** A schema as the full validation reads it: any schema below it may be a boolean. */
export interface FullSchema extends Omit<JsonSchema, Below> {
  allOf?: readonly Subschema[]
  anyOf?: readonly Subschema[]
  oneOf?: readonly Subschema[]
  not?: Subschema
  if?: Subschema
  then?: Subschema
  else?: Subschema
  properties?: Named<Subschema>
  patternProperties?: Named<Subschema>
  additionalProperties?: Subschema
  propertyNames?: Subschema
  dependentSchemas?: Named<Subschema>
  unevaluatedProperties?: Subschema
  prefixItems?: readonly Subschema[]
  items?: Subschema
  contains?: Subschema
  unevaluatedItems?: Subschema
}

export type Subschema = FullSchema | boolean
export type Named<T> = Readonly<Record<string, T>>

/** Names of fields, or indexes of items, that some schema spoke about: `unevaluated…` is about the others. */
export type Marks = Set<string | number>

/** A value being looked at: issues go to the run; marks are kept if the caller asks for them. */
export interface Look {
  readonly run: Run
  readonly marks: Marks | undefined
}

/** Checks a value against one schema, or against some of its keywords. */
export type Rule = (value: unknown, look: Look) => void

/** The rule of a schema, made when it is first used. */
export type RuleOf = (schema: Subschema) => Rule

/** The check takes longer than any value is worth. */
export class OutOfSteps extends Error {}

/** Whether a value fits, without a report of its issues; if it fits, its marks count. */
export function fits(rule: Rule, value: unknown, { run, marks }: Look): boolean {
  const found: Marks | undefined = marks && new Set()
  const isFitting = lookApart(rule, value, { run: { ...run, silent: true }, whole: run, found }) === 0
  if (isFitting) for (const mark of found ?? []) marks?.add(mark)
  return isFitting
}

/** What keeps a value from fitting, reported to the caller alone. */
export function findMisfits(rule: Rule, value: unknown, run: Run): readonly Issue[] {
  const own: Run = { ...run, issues: [] }
  lookApart(rule, value, { run: own, whole: run, found: undefined })
  return own.issues
}

interface Apart {
  run: Run
  /** What the work counts against. */
  whole: Run
  found: Marks | undefined
}

function lookApart(rule: Rule, value: unknown, { run, whole, found }: Apart): number {
  run.issueCount = 0
  rule(value, { run, marks: found })
  whole.steps = run.steps
  whole.values = run.values
  return run.issueCount
}

/** Checks a part of the value at hand by its own schema. */
export function applyTo(part: string | number, rule: Rule, about: { value: unknown; run: Run }): void {
  const { value, run } = about
  run.path.push(part)
  rule(value, { run, marks: undefined })
  run.path.pop()
}

/** Nothing fits `false`. */
export function refuseAll(_value: unknown, { run }: Look): void {
  report(run, 'not_allowed', { message: () => 'Nothing is allowed here; remove it.' })
}
