import { SetupError } from '../contract/base/errors.ts'
import type { Issue, Json, JsonObject } from '../contract/base/json.ts'
import type { JsonSchema, SchemaChecker } from '../contract/base/schema.ts'
import { isConstant } from '../kit/schema/constant-schemas.ts'
import { compileSchema } from './compile/compile-schema.ts'
import { compileInFull, type FullCheck } from './full/compile-in-full.ts'
import { inspectSchema } from './inspect/inspect-schema.ts'
import { usesMoreThanSubset } from './base/keyword-children.ts'
import { limits } from './base/limits.ts'
import { normaliseSchema } from './normalise/normalise-schema.ts'
import { createRecentCache } from './compile/recent-cache.ts'
import { createRun, issuesOf, type Check } from './base/run.ts'

/** Options of `createSchemaChecker`. */
export interface SchemaCheckerOptions {
  /** Compiled schemas that are kept at most. Default 1,000. */
  maxCompiled?: number
}

interface Compiled {
  readonly check: Check
  /** For schemas outside the subset: the check of everything that `check` leaves out. */
  readonly inFull: FullCheck | undefined
}

/**
 * Checks values against schemas. A schema is compiled when it is first used and recognised by identity, so it must not change
 * afterwards. A schema that uses more than the subset is recognised as such and validated in full.
 *
 * `check` throws for a schema that `inspect` would refuse; values never make it throw.
 */
export function createSchemaChecker(options: SchemaCheckerOptions = {}): SchemaChecker {
  const { maxCompiled = 1000 } = options
  const compiled = createRecentCache<JsonSchema, Compiled>(maxCompiled, prepareOnce)
  return {
    check(schema, value, { repair = false } = {}) {
      const { check, inFull } = compiled.get(schema)
      const run = createRun(repair)
      const checked = check(value, run)
      if (inFull !== undefined && run.values > 0) {
        const rest = inFull(checked)
        if (rest.length > 0) return { ok: false, issues: join(issuesOf(run), rest) }
      }
      if (run.issueCount > 0) return { ok: false, issues: issuesOf(run) }
      // No issue: every part was found to be JSON.
      return { ok: true, value: checked as Json, repairs: run.repairs }
    },
    inspect: inspectSchema,
    normalise: (schema: JsonObject) => normaliseSchema(schema),
  }
}

const constants = new WeakMap<JsonSchema, Compiled>()

function prepareOnce(schema: JsonSchema): Compiled {
  const known = constants.get(schema)
  if (known !== undefined) return known
  const made = prepare(schema)
  if (isConstant(schema)) constants.set(schema, made)
  return made
}

function prepare(schema: JsonSchema): Compiled {
  if (!usesMoreThanSubset(schema)) return { check: compileSchema(schema), inFull: undefined }
  const normalised = normaliseSchema({ ...schema })
  if (normalised.issues.length > 0)
    throw new SetupError('unsupported_schema', 'The schema cannot be used:', normalised.issues)
  const simple = normalised.schema
  return { check: compileSchema(simple), inFull: normalised.full ? compileInFull(simple) : undefined }
}

/** The issues of both checks; where both speak about the same place, the first one says it better. */
function join(issues: readonly Issue[], rest: readonly Issue[]): Issue[] {
  const places = new Set(issues.map((issue) => issue.pointer))
  return [...issues, ...rest.filter((issue) => !places.has(issue.pointer))].slice(0, limits.issues + 1)
}
