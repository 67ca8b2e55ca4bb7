import type { Fault, Json } from '../contract/json.ts'
import type { Rule } from '../contract/policy.ts'

const schemes = ['handrail:file:', 'handrail:host:', 'handrail:exec:', 'handrail:tool:']

/**
 * What a schema cannot say of the rules of a policy or project: a resource pattern that could never match would deny nothing, and
 * nobody would notice. The value fits its schema otherwise.
 */
export function checkRules(value: Json): Fault[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Array.isArray(value['rules']))
    return []
  return (value['rules'] as unknown as Rule[]).flatMap((rule, index) =>
    (rule.resources ?? []).flatMap((resource, place) => {
      const message = findFlaw(resource)
      return message === undefined
        ? []
        : [{ pointer: `/rules/${index}/resources/${place}`, code: 'invalid_resource', message }]
    }),
  )
}

function findFlaw(resource: string): string | undefined {
  if (resource === '*') return undefined
  if (!schemes.some((scheme) => resource.startsWith(scheme)))
    return `"${resource}" starts with none of ${schemes.join(', ')}.`
  if (!resource.startsWith('handrail:file:')) return undefined
  const path = resource.slice('handrail:file:'.length)
  if (!/^(\/|~\/|~$|\{project\}(\/|$)|\*)/.test(path))
    return `"${resource}" could never match: begin the path with "/", "~/", "{project}/" or "**/".`
  if (/\/\.{0,2}(\/|$)/.test(path) && path !== '/')
    return `"${resource}" could never match: paths have no empty, "." or ".." segment and no "/" at the end; for all below a folder, end with "/**".`
  return undefined
}
