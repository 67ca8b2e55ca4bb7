import { SetupError } from '../contract/base/errors.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import { isObject } from '../kit/json/is-object.ts'
import type { StandardSchema } from './standard-schema.ts'

/** Throws a `SetupError` for a schema of a zod that cannot give JSON Schema, with the release that can. */
export function refuseOtherZod(schema: StandardSchema): void {
  const { vendor } = schema['~standard']
  if (vendor !== 'zod') return
  throw '_zod' in schema ? unsupported(oldZod4) : unsupported(zod3)
}

/**
 * Throws a `SetupError` for what is neither JSON Schema nor a Standard Schema, and what its author may have meant: a schema of zod 3, and
 * the fields of an object without the object around them.
 */
export function refuseOtherLibraries(given: JsonSchema): void {
  if (!isObject(given)) return
  const { _def: definition }: { _def?: unknown } = given
  if (isObject(definition) && 'typeName' in definition) throw unsupported(zod3)
  const fields = Object.entries(given).filter(([, field]) => isObject(field) && '~standard' in field)
  const [name] = fields[0] ?? []
  if (name === undefined) return
  throw unsupported(
    `It holds schemas by name ("${name}"), but is not a schema itself. Put them into an object of their library, such as z.object({ ${name}: … }).`,
  )
}

function unsupported(message: string): SetupError {
  return new SetupError('unsupported_schema', message)
}

const zod3 =
  'The schema is of zod 3 (the package zod before 4.0, or "zod/v3"), which cannot give JSON Schema. Install zod 4 (npm install zod@4) and import from "zod", or write the schema as JSON Schema.'

const oldZod4 =
  'The schema is of a zod before 4.2 (or "zod/v4" of zod 3), which cannot give JSON Schema by itself. Update it (npm install zod@4) and import from "zod", or write the schema as JSON Schema.'
