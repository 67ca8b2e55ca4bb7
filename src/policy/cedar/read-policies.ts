import type { DetailedError } from '@cedar-policy/cedar-wasm/nodejs'
import type { Issue } from '../../contract/base/json.ts'
import type { Cedar } from './load-cedar.ts'

/** The policies of a text, each under its `@id`, or under its place (`policy0`) where it has none. */
export interface ReadPolicies {
  readonly policies: Readonly<Record<string, string>>
  readonly issues: readonly Issue[]
}

/** Reads a text of policies; what cannot be read, and an `@id` that two have, is an issue. */
export function readPolicies(text: string, cedar: Cedar): ReadPolicies {
  const parts = cedar.policySetTextToParts(text)
  if (parts.type === 'failure')
    return { policies: {}, issues: parts.errors.map((error) => toIssue('/policies', error, text)) }
  const issues: Issue[] = parts.policy_templates.map((template) => ({
    pointer: '/policies',
    code: 'unsupported_template',
    message: `A template decides nothing until it is linked, and links are not taken here: ${firstLine(template)}. Write it out as a policy.`,
  }))
  const policies: Record<string, string> = Object.create(null)
  const places = placesOf(parts.policies.length)
  for (const [index, policy] of parts.policies.entries()) {
    const id = findId(policy, cedar) ?? places[index] ?? ''
    if (Object.hasOwn(policies, id))
      issues.push({
        pointer: '/policies',
        code: 'duplicate_id',
        message: `Two policies have the id "${id}". Give each its own, so that one can be told from the other.`,
      })
    policies[id] = policy
  }
  return { policies, issues }
}

/** The engine returns policies in the order of their names: policy0, policy1, policy10, policy11 … policy2. */
function placesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `policy${index}`).sort()
}

function findId(policy: string, cedar: Cedar): string | undefined {
  const read = cedar.policyToJson(policy)
  const id = read.type === 'success' ? read.json.annotations?.['id'] : undefined
  return id === undefined || id === '' ? undefined : id
}

/** What the engine found wrong, with the line of the text where it says where. */
export function toIssue(pointer: string, error: DetailedError, text?: string): Issue {
  const start = error.sourceLocations?.[0]?.start
  const label = error.sourceLocations?.[0]?.label
  const line = text === undefined || start === undefined ? undefined : lineAt(text, start)
  const details = [label, error.help].filter((detail) => typeof detail === 'string' && detail !== '')
  const place = line === undefined ? '' : `line ${line}: `
  const message = `${place}${error.message}${details.length === 0 ? '' : ` (${details.join('; ')})`}. Mend it.`
  return { pointer, code: 'invalid_cedar', message }
}

/** The engine counts bytes. */
function lineAt(text: string, byte: number): number {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, byte)).split('\n').length
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 80)
}
