import type { ErrorObject } from 'ajv/dist/2020.js'
import type { Fault } from '../contract/json.ts'
import { limits } from './limits.ts'
import { listNames, quote } from './describe.ts'
import { pointerTo } from '../kit/json-pointer.ts'

const maxChoices = 6

/** Ajv's errors as faults. What was wrong with each choice of an `anyOf` or `oneOf` is told in the fault of the whole. */
export function toFaults(errors: readonly ErrorObject[]): Fault[] {
  const faults: Fault[] = []
  for (const error of errors) {
    if (error.keyword === 'if') continue
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf') faults.push(foldChoices(error, faults))
    else faults.push(toFault(error))
  }
  const more = faults.length - limits.faults
  if (more <= 0) return faults
  return [
    ...faults.slice(0, limits.faults),
    { pointer: '', code: 'more_faults', message: `And ${more} more faults.` },
  ]
}

/** Takes the faults of the choices, which Ajv puts right before, out of the list and into one. */
function foldChoices(error: ErrorObject, faults: Fault[]): Fault {
  const { instancePath: pointer } = error
  const { passingSchemas } = error.params as { passingSchemas?: unknown }
  if (Array.isArray(passingSchemas))
    return {
      pointer,
      code: 'not_allowed',
      message: 'Fits more than one of the allowed forms; it must fit one.',
    }
  const reasons = new Set<string>()
  for (
    let last = faults.at(-1);
    last !== undefined && isWithin(last.pointer, pointer);
    last = faults.at(-1)
  ) {
    reasons.add(
      last.pointer === pointer ? last.message : `${last.pointer.slice(pointer.length)}: ${last.message}`,
    )
    faults.pop()
  }
  const shown = [...reasons].toReversed().slice(0, maxChoices)
  return {
    pointer,
    code: 'not_allowed',
    message: `Fits none of the allowed forms. ${shown.map((reason) => `(${reason})`).join(' or ')}`.trimEnd(),
  }
}

function isWithin(pointer: string, whole: string): boolean {
  return pointer === whole || pointer.startsWith(`${whole}/`)
}

function toFault(error: ErrorObject): Fault {
  const { instancePath: pointer } = error
  const params = error.params as Record<string, unknown>
  const name = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty']
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
      return {
        pointer: pointerTo(pointer, String(name)),
        code: 'missing_field',
        message: `The field ${quote(String(name))} is missing${dependsOn(params)}.`,
      }
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return {
        pointer: pointerTo(pointer, String(name)),
        code: 'unknown_field',
        message: `There is no field ${quote(String(name))}; remove it.`,
      }
    case 'type':
      return { pointer, code: 'wrong_type', message: `It must be ${typeNames(params['type'])}.` }
    case 'not':
      return { pointer, code: 'not_allowed', message: 'It has a form that the schema forbids ("not").' }
    case 'false schema':
      return { pointer, code: 'not_allowed', message: 'Nothing is allowed here; remove it.' }
    case 'enum':
    case 'const':
      return { pointer, code: 'not_allowed', message: 'It is none of the allowed values.' }
    case 'pattern':
      return { pointer, code: 'pattern_mismatch', message: `It must match ${String(params['pattern'])}` }
    default:
      return { pointer, code: 'does_not_fit', message: `It ${error.message ?? `breaks "${error.keyword}"`}.` }
  }
}

function dependsOn(params: Record<string, unknown>): string {
  const { property } = params
  return typeof property === 'string' ? `; it must be there when ${quote(property)} is` : ''
}

function typeNames(type: unknown): string {
  return listNames(Array.isArray(type) ? type.map(String) : String(type).split(','), 'or')
}
