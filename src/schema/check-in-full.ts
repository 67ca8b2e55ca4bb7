import { createRequire } from 'node:module'
import type * as AjvModule from 'ajv/dist/2020.js'
import { SetupError } from '../contract/errors.ts'
import type { Fault } from '../contract/json.ts'
import type { JsonSchema } from '../contract/schema.ts'
import { toFaults } from './ajv-faults.ts'
import { isMultipleOf } from './is-multiple-of.ts'
import { JsonMap } from './json-map.ts'
import { isKeywords } from './inspection.ts'
import { mapChildren } from './keyword-children.ts'
import { compilePattern } from './pattern/compile-pattern.ts'
import type { Budget } from './pattern/machine.ts'
import { limits } from './limits.ts'

/** Checks a value against every keyword of one schema. Gives no faults for a value that fits. */
export type FullCheck = (value: unknown) => readonly Fault[]

/** Compiles schemas for the full validation. */
export type FullCompiler = (schema: JsonSchema) => FullCheck

/** Put into each schema, so that a validation that would take too long can be ended from inside. */
const stepKeyword = 'handrail:step'
const maxSteps = 500_000

class OutOfSteps extends Error {}

/**
 * A compiler on top of Ajv, which is loaded when the first schema needs it. Nothing is loaded from elsewhere. Patterns, enum, const,
 * uniqueItems and multipleOf are Handrail's own: Ajv's can take very long for hostile values, throw for a field named
 * `toString`, or mean something else for fractions.
 */
export function createFullCompiler(): FullCompiler {
  let ajv: AjvModule.Ajv2020 | undefined
  const work: Work = { steps: 0, visits: 0 }
  return (schema) => {
    ajv ??= createAjv(work)
    const counted = withSteps(schema)
    const validate = compileOnce(ajv, counted)
    return (value) => {
      work.steps = limits.patternSteps
      work.visits = maxSteps
      try {
        return validate(value) ? [] : toFaults(validate.errors ?? [])
      } catch (error) {
        if (error instanceof OutOfSteps || error instanceof RangeError) return [tooMuch]
        throw error
      }
    }
  }
}

function compileOnce(ajv: AjvModule.Ajv2020, schema: AjvModule.SchemaObject): AjvModule.ValidateFunction {
  try {
    return ajv.compile(schema)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SetupError('unsupported_schema', `The schema cannot be compiled for full validation: ${reason}`)
  } finally {
    // Ajv would keep every schema for good.
    ajv.removeSchema(schema)
  }
}

interface Work extends Budget {
  /** Schemas that may still be applied during this check. */
  visits: number
}

const tooMuch: Fault = {
  pointer: '',
  code: 'too_large',
  message: 'Checking this value against its schema takes too long; send less at once.',
}

function withSteps(schema: unknown): Record<string, unknown> {
  const counted = mapChildren(isKeywords(schema) ? schema : {}, (child) =>
    typeof child === 'boolean' ? child : withSteps(child),
  )
  return { ...counted, [stepKeyword]: true }
}

function createAjv(work: Work): AjvModule.Ajv2020 {
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof AjvModule
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    ownProperties: true,
    validateFormats: false,
    validateSchema: false,
    inlineRefs: false,
    meta: false,
    logger: false,
    code: { regExp: createPatternEngine(work) },
  })
  replaceKeywords(ajv)
  ajv.addKeyword({
    keyword: stepKeyword,
    errors: false,
    validate() {
      if (--work.visits < 0) throw new OutOfSteps()
      return true
    },
  })
  return ajv
}

function createPatternEngine(work: Work): NonNullable<AjvCode['regExp']> {
  const engine = (source: string): { test(text: string): boolean; toString(): string } => {
    const pattern = compilePattern(source)
    return {
      test(text) {
        const matched = pattern.test(text, work)
        if (matched === undefined) throw new OutOfSteps()
        return matched
      },
      // Ajv shares engines between patterns whose text is the same.
      toString: () => source,
    }
  }
  return Object.assign(engine, { code: 'handrailPattern' })
}

type AjvCode = NonNullable<AjvModule.Options['code']>

function replaceKeywords(ajv: AjvModule.Ajv2020): void {
  for (const keyword of ['enum', 'const', 'uniqueItems', 'multipleOf']) ajv.removeKeyword(keyword)
  ajv.addKeyword({ keyword: 'enum', schemaType: 'array', compile: isOneOf })
  ajv.addKeyword({ keyword: 'const', compile: (value: unknown) => isOneOf([value]) })
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not hold an item twice' },
    compile: (wanted: boolean) => (items: unknown[]) => !wanted || areDifferent(items),
  })
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: ({ schema }) => `must be a multiple of ${String(schema)}` },
    compile: (divisor: number) => (value: number) => isMultipleOf(value, divisor),
  })
}

function isOneOf(values: readonly unknown[]): (value: unknown) => boolean {
  const allowed = new JsonMap<true>()
  for (const value of values) allowed.set(value, true)
  return (value) => allowed.get(value) === true
}

function areDifferent(items: readonly unknown[]): boolean {
  const seen = new JsonMap<true>()
  for (const item of items) {
    if (seen.get(item) === true) return false
    seen.set(item, true)
  }
  return true
}
