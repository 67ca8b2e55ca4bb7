import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { isKeywords, type Keywords, type Lowering } from './lowering.ts'

/**
 * A schema without the keywords that may not stand at its top: every property of every choice becomes a property, required if all choices require
 * it. It takes all that the schema takes; what it takes beyond that is in `told`.
 */
export function flattenRoot(
  schema: Keywords,
  without: readonly string[],
  work: Pick<Lowering, 'resolve'>,
): { readonly schema: Keywords; readonly told: Keywords } {
  const dropped = without.filter((keyword) => schema[keyword] !== undefined)
  const told = Object.fromEntries(dropped.map((keyword) => [keyword, schema[keyword]]))
  const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !dropped.includes(keyword)))
  let flat: Keywords = { ...rest, type: 'object' }
  if (isKeywords(schema['const'])) flat = joinAll(flat, [toConstant(schema['const'])])
  if (dropped.includes('allOf')) flat = joinAll(flat, branchesOf(schema['allOf'], without, work))
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = dropped.includes(keyword) ? branchesOf(schema[keyword], without, work) : []
    if (branches.length > 0) flat = joinAll(flat, [unite(branches, flat)])
  }
  return { schema: flat, told }
}

function branchesOf(given: unknown, without: readonly string[], work: Pick<Lowering, 'resolve'>): Keywords[] {
  const branches: unknown[] = Array.isArray(given) ? given : []
  return branches.flatMap((branch) => {
    if (!isKeywords(branch)) return []
    const { $ref } = branch
    const target = typeof $ref === 'string' && $ref !== '#' ? work.resolve($ref) : undefined
    const whole = isKeywords(target) ? { ...target, ...branch, $ref: undefined } : branch
    return [flattenRoot(whole, without, work).schema]
  })
}

function toConstant(value: Keywords): Keywords {
  const properties = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, { const: each }]))
  return { properties, required: Object.keys(value) }
}

/** The schema with the properties of others that hold as well. */
function joinAll(schema: Keywords, others: readonly Keywords[]): Keywords {
  const properties = new Map(Object.entries(propertiesOf(schema)))
  const required = new Set(requiredOf(schema))
  for (const other of others) {
    for (const [name, property] of Object.entries(propertiesOf(other)))
      properties.set(name, properties.has(name) ? both(properties.get(name), property) : property)
    for (const name of requiredOf(other)) required.add(name)
  }
  const closed = others.some((other) => other['additionalProperties'] === false)
  return {
    ...schema,
    ...(properties.size > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.size > 0 && { required: [...required] }),
    ...(closed && schema['additionalProperties'] === undefined && { additionalProperties: false }),
  }
}

/**
 * The properties of choices, of which one holds. One that only some of them name keeps what they say of it, unless the schema around them says what
 * it is: a model has no reason to send another value there.
 */
function unite(branches: readonly Keywords[], around: Keywords): Keywords {
  const properties = new Map<string, unknown>()
  for (const name of new Set(branches.flatMap((branch) => Object.keys(propertiesOf(branch))))) {
    const having = branches.filter((branch) => Object.hasOwn(propertiesOf(branch), name))
    if (having.length < branches.length && Object.hasOwn(propertiesOf(around), name)) continue
    properties.set(name, either(having.map((branch) => propertiesOf(branch)[name])))
  }
  const [first, ...others] = branches.map(requiredOf)
  const required = (first ?? []).filter((name) => others.every((each) => each.includes(name)))
  const closed = branches.every((branch) => branch['additionalProperties'] === false)
  return {
    properties: Object.fromEntries(properties),
    required,
    ...(closed && { additionalProperties: false }),
  }
}

function either(schemas: readonly unknown[]): unknown {
  const different = [...new Map(schemas.map((each) => [canonicalJson(each), each])).values()]
  return different.length === 1 ? different[0] : { anyOf: different }
}

function both(one: unknown, other: unknown): unknown {
  if (canonicalJson(one) === canonicalJson(other) || isEmpty(other)) return one
  return isEmpty(one) ? other : { allOf: [one, other] }
}

function isEmpty(schema: unknown): boolean {
  return schema === true || (isKeywords(schema) && Object.keys(schema).length === 0)
}

function propertiesOf({ properties }: Keywords): Keywords {
  return isKeywords(properties) ? properties : {}
}

function requiredOf({ required }: Keywords): readonly string[] {
  const list: unknown[] = Array.isArray(required) ? required : []
  return list.filter((each) => typeof each === 'string')
}
