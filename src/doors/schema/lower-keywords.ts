import { isKeywords, isKnown, typesOf, typeOfValue, type Keywords, type Lowering } from './lowering.ts'
import { mergeSchemas } from '../../schema/normalise/merge-schemas.ts'

/** Keywords that say nothing about which values fit. */
const silent =
  /^(\$defs|definitions|\$schema|\$id|\$comment|\$anchor|examples|deprecated|readOnly|writeOnly|content[A-Z].*|x-.*)$/

/** The keywords of one schema as the provider knows them, and those that it does not know: `told`. */
export function lowerKeywords(
  given: Keywords,
  work: Lowering,
): { readonly schema: Keywords; readonly told: Keywords } {
  const told: Keywords = {}
  let schema = sayNull(given, work)
  schema = takeInAll(schema, told, work)
  schema = sayOtherwise(schema, work)
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || isSilent(keyword, work)) delete schema[keyword]
    else if (!isKnown(keyword, work)) {
      told[keyword] = value
      delete schema[keyword]
    }
  }
  return { schema: lowerValues(schema, told, work), told }
}

function isSilent(keyword: string, { known }: Lowering): boolean {
  if (known?.has(keyword) === true) return false
  return known === undefined
    ? /^x-|^\$schema$|^\$comment$/.test(keyword)
    : silent.test(keyword) || keyword === 'title'
}

/** `nullable` is a keyword of OpenAPI: elsewhere the type says it, and there the type does not. */
function sayNull(given: Keywords, work: Lowering): Keywords {
  const { nullable, ...schema } = given
  if (work.rules.find('one-type') !== undefined) return sayOneType(given)
  if (nullable !== true || schema['type'] === undefined) return schema
  const { enum: values } = schema
  const all: unknown[] = Array.isArray(values) ? values : []
  return {
    ...schema,
    type: [...new Set([...typesOf(schema), 'null'])],
    ...(values !== undefined && { enum: all.includes(null) ? all : [...all, null] }),
  }
}

function sayOneType(given: Keywords): Keywords {
  const schema = sayOneChoice(given)
  const types = typesOf(schema)
  const others = types.filter((type) => type !== 'null')
  if (types.length < 2 && !types.includes('null')) return schema
  const isNullable = types.includes('null') || schema['nullable'] === true
  const { type: _, ...rest } = schema
  if (others.length === 1) return { ...rest, type: others[0], ...(isNullable && { nullable: true }) }
  if (others.length === 0) return { ...rest, type: 'string', nullable: true }
  const anyOf = others.map((type) => ({ type }))
  return { ...rest, ...(rest['anyOf'] === undefined && { anyOf }), ...(isNullable && { nullable: true }) }
}

/** A choice between one schema and null is that schema, and nullable. */
function sayOneChoice(schema: Keywords): Keywords {
  const { anyOf, ...rest } = schema
  const choices: unknown[] = Array.isArray(anyOf) ? anyOf : []
  const others = choices.filter((each) => !isKeywords(each) || each['type'] !== 'null')
  if (others.length === choices.length) return schema
  const [only] = others
  if (others.length === 1 && isKeywords(only)) return { ...only, ...rest, nullable: true }
  return { ...rest, anyOf: others, nullable: true }
}

/** The parts of an `allOf` are taken into the schema, as far as one schema can say them. */
function takeInAll(schema: Keywords, told: Keywords, work: Lowering): Keywords {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf) || isKnown('allOf', work)) return schema
  let whole = rest
  const apart: unknown[] = []
  for (const part of allOf) {
    const target: unknown =
      isKeywords(part) && typeof part['$ref'] === 'string' ? work.resolve(part['$ref']) : part
    const merged = isKeywords(target) ? mergeSchemas(whole, target) : undefined
    if (merged === undefined) apart.push(target)
    else whole = merged
  }
  if (apart.length > 0) told['allOf'] = apart
  return whole
}

/** Keywords that another one can stand for. */
function sayOtherwise(given: Keywords, work: Lowering): Keywords {
  const schema = { ...given }
  if (!isKnown('oneOf', work) && schema['oneOf'] !== undefined && schema['anyOf'] === undefined) {
    schema['anyOf'] = schema['oneOf']
    delete schema['oneOf']
  }
  if (!isKnown('const', work) && 'const' in schema && schema['enum'] === undefined) {
    schema['enum'] = [schema['const']]
    delete schema['const']
  }
  const { prefixItems, items, exclusiveMinimum, exclusiveMaximum } = schema
  if (!isKnown('prefixItems', work) && Array.isArray(prefixItems) && !isKeywords(items)) {
    const different = prefixItems.filter(isKeywords)
    schema['items'] = different.length === 1 ? different[0] : { anyOf: different }
  }
  const isInteger = typesOf(schema).includes('integer') && !typesOf(schema).includes('number')
  if (
    !isKnown('exclusiveMinimum', work) &&
    isKnown('minimum', work) &&
    isInteger &&
    Number.isInteger(exclusiveMinimum)
  ) {
    schema['minimum'] = Math.max(Number(schema['minimum'] ?? -Infinity), Number(exclusiveMinimum) + 1)
    delete schema['exclusiveMinimum']
  }
  if (
    !isKnown('exclusiveMaximum', work) &&
    isKnown('maximum', work) &&
    isInteger &&
    Number.isInteger(exclusiveMaximum)
  ) {
    schema['maximum'] = Math.min(Number(schema['maximum'] ?? Infinity), Number(exclusiveMaximum) - 1)
    delete schema['exclusiveMaximum']
  }
  return schema
}

/** Keywords that the provider knows, with values that it does not. */
function lowerValues(schema: Keywords, told: Keywords, work: Lowering): Keywords {
  const { rules } = work
  const { format, pattern, minItems, additionalProperties } = schema
  const formats = rules.find('formats')?.known
  if (formats !== undefined && typeof format === 'string' && !formats.includes(format)) {
    told['format'] = format
    delete schema['format']
  }
  if (typeof pattern === 'string' && rules.find('patterns')?.without.test(pattern) === true) {
    told['pattern'] = pattern
    delete schema['pattern']
  }
  const most = rules.find('min-items')?.max
  if (most !== undefined && typeof minItems === 'number' && minItems > most) {
    told['minItems'] = minItems
    schema['minItems'] = most
  }
  if (
    isKeywords(schema['properties']) &&
    Object.keys(schema['properties']).length === 0 &&
    rules.find('no-empty-properties')
  )
    delete schema['properties']
  if (additionalProperties === true && rules.find('closed-objects') === undefined)
    delete schema['additionalProperties']
  if (rules.find('required-defined') !== undefined) requireDefined(schema, told)
  return lowerEnum(schema, told, work)
}

/** Only what is a property can be required. */
function requireDefined(schema: Keywords, told: Keywords): void {
  const { properties, required } = schema
  if (!Array.isArray(required)) return
  const defined = required.filter(
    (name) => isKeywords(properties) && typeof name === 'string' && Object.hasOwn(properties, name),
  )
  if (defined.length === required.length) return
  told['required'] = required
  if (defined.length > 0) schema['required'] = defined
  else delete schema['required']
}

function lowerEnum(schema: Keywords, told: Keywords, { rules }: Lowering): Keywords {
  const rule = rules.find('enum')
  const { enum: values, ...rest } = schema
  if (rule === undefined || !Array.isArray(values)) return schema
  const typeOf = (value: unknown) => typeOfValue(value).replace('integer', 'number')
  const others = rest['nullable'] === true ? values.filter((value) => value !== null) : values
  const isOther = rule.typed === true && rest['type'] !== undefined && rest['type'] !== 'string'
  if (isOther || others.some((value) => !rule.of.includes(typeOf(value)))) {
    told['enum'] = values
    const types = [...new Set(others.map(typeOfValue))]
    const isOne = types.length === 1 && rest['type'] === undefined
    return isOne ? { ...rest, type: types[0] } : rest
  }
  const isTyped = rule.typed === true && rest['type'] === undefined && rest['anyOf'] === undefined
  return { ...rest, ...(isTyped && { type: 'string' }), enum: others }
}
