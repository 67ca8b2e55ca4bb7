import { strictness, type Grant, type Policy, type Rule } from '../contract/policy.ts'
import type { ToolDefinition } from '../contract/tool/tool.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { matchPattern, meetsPatterns } from '../kit/match/match-pattern.ts'
import { toolUrn } from '../kit/match/urn.ts'
import { isNarrow } from './compile-rules.ts'

/** A part of a policy that decides nothing for the tools there are. It may be meant for other tools, so it is not an issue. */
export interface IdleRule {
  /** Where it stands in the policy. */
  pointer: string
  message: string
}

/** The parts of a policy that could matter to no call of any of these tools. */
export function findIdleRules(policy: Policy, definitions: readonly ToolDefinition[]): IdleRule[] {
  const { rules = [], tenants = {}, grants = [], budgets = [], prices = [] } = policy
  const { obligations = [], approvers = [] } = policy
  const strange = (entries: readonly Meets[], pointer: string) =>
    entries.flatMap((entry, index) =>
      definitions.some((definition) => meets(entry, definition))
        ? []
        : [{ pointer: pointerTo(pointer, index), message: 'matches no tool that is here' }],
    )
  return [
    ...findIdle(rules, '/rules', { definitions, above: [] }),
    ...Object.entries(tenants).flatMap(([tenant, own]) =>
      findIdle(own.rules ?? [], `${pointerTo('/tenants', tenant)}/rules`, { definitions, above: rules }),
    ),
    ...strange(grants, '/grants'),
    ...strange(budgets, '/budgets'),
    ...strange(prices, '/prices'),
    ...strange(obligations, '/obligations'),
    ...strange(approvers, '/approvers'),
  ]
}

type Meets = Pick<Rule, 'tags'> & Pick<Grant, 'tools'>

interface Around {
  definitions: readonly ToolDefinition[]
  /** Rules that count beside those of the list. */
  above: readonly Rule[]
}

function findIdle(rules: readonly Rule[], pointer: string, { definitions, above }: Around): IdleRule[] {
  return rules.flatMap((rule, index) => {
    const at = pointerTo(pointer, index)
    const met = definitions.filter((definition) => meets(rule, definition))
    if (met.length === 0) return [{ pointer: at, message: 'matches no tool that is here' }]
    const idle = findIdleParts(rule, met).map(({ part, message }) => ({ pointer: `${at}${part}`, message }))
    if (idle.length > 0) return idle
    const message = findOverruling(rule, met, [...above, ...rules]) ?? findPowerless(rule, met)
    return message === undefined ? [] : [{ pointer: at, message }]
  })
}

function meets({ tools, tags }: Meets, definition: ToolDefinition): boolean {
  if (!meetsPatterns(tools, definition.name)) return false
  return tags === undefined || tags.some((tag) => definition.tags.includes(tag))
}

/** Conditions that no call of these tools can meet. */
function findIdleParts(
  { argv, commands, resources = [], input = {} }: Rule,
  met: readonly ToolDefinition[],
): { part: string; message: string }[] {
  const noProgram = 'matches no tool that starts a program'
  const starts = met.some((definition) => definition.capabilities.proc.executables.length > 0)
  return [
    ...(argv === undefined || starts ? [] : [{ part: '/argv', message: noProgram }]),
    ...(commands === undefined || starts ? [] : [{ part: '/commands', message: noProgram }]),
    ...resources.flatMap((resource, index) =>
      met.some((definition) => couldReach(definition, resource))
        ? []
        : [{ part: `/resources/${index}`, message: 'is nothing that the tools of this rule could reach' }],
    ),
    ...Object.keys(input).flatMap((field) =>
      met.some(({ inputSchema }) => hasField(inputSchema, field))
        ? []
        : [{ part: pointerTo('/input', field), message: 'is not a field of the tools of this rule' }],
    ),
  ]
}

function couldReach({ name, capabilities: { fs, net, proc } }: ToolDefinition, resource: string): boolean {
  if (resource.startsWith('handrail:file:')) return fs.read.length + fs.write.length > 0
  if (resource.startsWith('handrail:host:')) return net.hosts.length > 0
  if (resource.startsWith('handrail:exec:')) return proc.executables.length > 0
  return matchPattern(resource, toolUrn(name))
}

function hasField(schema: ToolDefinition['inputSchema'], field: string): boolean {
  return isPlainObject(schema.properties) && Object.hasOwn(schema.properties, field)
}

/** Why a rule never decides: stricter ones speak of every call of all its tools. */
function findOverruling(
  rule: Rule,
  met: readonly ToolDefinition[],
  others: readonly Rule[],
): string | undefined {
  const stricter = others.filter(
    (other) => strictness[other.effect] > strictness[rule.effect] && isForAll(other),
  )
  const [first] = stricter.filter((other) => met.some((definition) => meets(other, definition)))
  const all = met.every((definition) => stricter.some((other) => meets(other, definition)))
  if (first === undefined || !all) return undefined
  return `never counts: ${first.id === undefined ? 'another rule' : `rule "${first.id}"`} says ${first.effect} of every call that it matches`
}

/** Whether a rule covers every call of its tools, by any caller and whatever the call reaches. */
function isForAll({ roles, modes, projects, resources, argv, commands, input, inputOnly }: Rule): boolean {
  if (inputOnly === true) return false
  return [roles, modes, projects, resources, argv, commands, input].every((part) => part === undefined)
}

function findPowerless(rule: Rule, met: readonly ToolDefinition[]): string | undefined {
  if (rule.effect !== 'allow' || isNarrow(rule)) return undefined
  return met.every(({ safety, tags }) => safety === 'high' || tags.includes('dangerous'))
    ? 'lets nothing through: its tools are dangerous, and an allow of those must name resources, argv or commands'
    : undefined
}
