import type { Issue } from '../../contract/base/json.ts'
import { modes, modesByReach, roles } from '../../contract/base/principal.ts'
import type { ObservedAgent } from '../../contract/observed.ts'
import type { SessionOptions } from '../../contract/runtime.ts'
import { idForm, isId } from '../../kit/match/is-id.ts'
import { findModelIssues } from '../../kit/find-model-issues.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { Family } from '../../runtime/state/family.ts'
import { checkDeliverables } from './check-deliverables.ts'
import { checkToolLists } from './check-tool-lists.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { findUnknownValue } from '../../kit/json/find-unknown-value.ts'
import { findNoFunctions } from '../../kit/json/find-wrong-kinds.ts'

const fields: readonly (keyof SessionOptions)[] = [
  'id',
  'role',
  'mode',
  'tenant',
  'actor',
  'agent',
  'model',
  'allowedTools',
  'disallowedTools',
  'claims',
  'approve',
  'elicit',
  'standingConsents',
  'signal',
  'deliverables',
  'parent',
  'observes',
]

/** Every issue of the options of a session. `family` is what its parent hands to it, where it has one that this runtime opened. */
export function checkSessionOptions(given: SessionOptions, family: Family | undefined): Issue[] {
  return [
    ...findUnknownFields(given, fields),
    ...findNoFunctions(given, ['approve', 'elicit']),
    ...findUnknownValue('/role', given.role, roles),
    ...findUnknownValue('/mode', given.mode, modes),
    ...checkToolLists(given),
    ...checkClaims(given.claims),
    ...checkDeliverables(given.deliverables),
    ...checkId(given, 'id'),
    ...checkOwnId(given.id),
    ...checkId(given, 'tenant'),
    ...checkId(given, 'actor'),
    ...checkAgent(given.agent),
    ...findModelIssues(given.model),
    ...checkStandingConsents(given),
    ...checkObserves(given.observes),
    ...(given.parent === undefined ? [] : checkChild(given, family)),
  ]
}

function checkId(given: SessionOptions, field: 'id' | 'tenant' | 'actor'): Issue[] {
  const value = given[field]
  if (value === undefined || isId(value)) return []
  const message = `"${String(value).slice(0, 80)}" is not an id: use ${idForm}.`
  return [{ pointer: `/${field}`, code: 'invalid_id', message }]
}

function checkOwnId(id: unknown): Issue[] {
  if (typeof id !== 'string' || !id.startsWith('ses_')) return []
  const message =
    'Ids that begin with "ses_" are made by Handrail. Open the session by an id of your own from the start.'
  return [{ pointer: '/id', code: 'invalid_id', message }]
}

const agentFields: readonly string[] = ['agentId', 'runId', 'parentAgentId', 'parentRunId']

/** Characters of an id of an agent or a run. */
const longestAgentId = 256

function checkAgent(agent: unknown): Issue[] {
  if (agent === undefined) return []
  if (!isPlainObject(agent))
    return [{ pointer: '/agent', code: 'wrong_type', message: 'Give an object with "agentId" and "runId".' }]
  const unknown = findUnknownFields(agent, agentFields).map((issue) => ({
    ...issue,
    pointer: `/agent${issue.pointer}`,
  }))
  const bad = agentFields.filter((field, index) => {
    const value = agent[field]
    const isMissing = value === undefined && index < 2
    return isMissing || (value !== undefined && !isAgentId(value))
  })
  const message = `Give a text of 1 to ${longestAgentId} characters.`
  return [...unknown, ...bad.map((field) => ({ pointer: `/agent/${field}`, code: 'invalid_id', message }))]
}

function isAgentId(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= longestAgentId
}

function checkClaims(claims: unknown): Issue[] {
  if (claims === undefined) return []
  const pointer = '/claims'
  if (!isPlainObject(claims) || typeof claims['task'] !== 'string' || claims['task'] === '')
    return [{ pointer, code: 'wrong_type', message: 'Give an object with the id of a "task", and "steps".' }]
  const { steps } = claims
  const areIds = steps === undefined || (Array.isArray(steps) && steps.every((id) => typeof id === 'string'))
  return [
    ...findUnknownFields(claims, ['task', 'steps']).map((issue) => ({
      ...issue,
      pointer: `${pointer}${issue.pointer}`,
    })),
    ...(areIds
      ? []
      : [{ pointer: `${pointer}/steps`, code: 'wrong_type', message: 'Give a list of ids of steps.' }]),
  ]
}

function checkStandingConsents({ standingConsents }: SessionOptions): Issue[] {
  if (standingConsents === undefined || typeof standingConsents === 'boolean') return []
  const message = 'Say true or false: whether standing consents answer for the person.'
  return [{ pointer: '/standingConsents', code: 'wrong_type', message }]
}

const observesFields: readonly (keyof ObservedAgent)[] = ['agent', 'session']

function checkObserves(observes: unknown): Issue[] {
  if (observes === undefined) return []
  if (!isPlainObject(observes))
    return [
      { pointer: '/observes', code: 'wrong_type', message: 'Give an object with "agent" and "session".' },
    ]
  const { agent, session } = observes
  const issues = findUnknownFields(observes, observesFields).map((issue) => ({
    ...issue,
    pointer: `/observes${issue.pointer}`,
  }))
  if (typeof agent !== 'string' || !/^[\w.-]{1,64}$/.test(agent))
    issues.push({
      pointer: '/observes/agent',
      code: 'invalid_id',
      message: 'Name the agent with 1 to 64 letters, digits, ".", "_" or "-".',
    })
  if (!isAgentId(session))
    issues.push({
      pointer: '/observes/session',
      code: 'invalid_id',
      message: `Give a text of 1 to ${longestAgentId} characters.`,
    })
  return issues
}

function checkChild(given: SessionOptions, family: Family | undefined): Issue[] {
  if (family === undefined)
    return [{ pointer: '/parent', code: 'unknown_session', message: 'It is not a session of this runtime.' }]
  if (family.isClosed())
    return [
      { pointer: '/parent', code: 'closed', message: 'The parent is closed, and so are all that it opened.' },
    ]
  const { principal } = family
  const mode = family.mode.current()
  if (given.id !== undefined)
    return [
      {
        pointer: '/id',
        code: 'beyond_parent',
        message: 'A child has no id of its own: it ends with its parent.',
      },
    ]
  const issues: Issue[] = []
  const refuse = (field: keyof SessionOptions, message: string) =>
    issues.push({ pointer: `/${field}`, code: 'beyond_parent', message })
  for (const field of ['tenant', 'actor'] as const)
    if (given[field] !== undefined && given[field] !== principal[field])
      refuse(field, `A child is of the ${field} of its parent, which is "${principal[field]}". Leave it out.`)
  if (given.role !== undefined && roles.indexOf(given.role) < roles.indexOf(principal.role))
    refuse(
      'role',
      `The role "${given.role}" reaches further than the parent's, which is "${principal.role}".`,
    )
  if (given.mode !== undefined && modesByReach.indexOf(given.mode) > modesByReach.indexOf(mode))
    refuse('mode', `The mode "${given.mode}" reaches further than the parent's, which is "${mode}".`)
  if (given.approve !== undefined) refuse('approve', 'The approver of the parent is asked. Leave it out.')
  if (given.elicit !== undefined)
    refuse('elicit', 'The elicitation handler of the parent is asked. Leave it out.')
  return issues
}
