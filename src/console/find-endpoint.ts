import { answerProblem } from './base/answers.ts'
import { accessEndpoints } from './api/access.ts'
import { approvalEndpoints } from './api/approvals.ts'
import { budgetEndpoints } from './api/budgets.ts'
import { callEndpoints } from './api/calls.ts'
import { evidenceFileEndpoints } from './api/records/evidence-files.ts'
import { evidenceEndpoints } from './api/evidence.ts'
import { ownEndpoints } from './api/me.ts'
import { overviewEndpoints } from './api/overview.ts'
import { runReplayEndpoints } from './api/records/run-replay.ts'
import { recordEndpoints } from './api/records/list-records.ts'
import { sessionEndpoints } from './api/records/sessions.ts'
import { policyEndpoints } from './api/policy.ts'
import { policyVersionEndpoints } from './api/policy-versions.ts'
import { runEndpoints } from './api/runs.ts'
import { serverChangeEndpoints } from './api/server-changes.ts'
import { serverLoginEndpoints } from './api/server-login.ts'
import { serverEndpoints } from './api/servers.ts'
import { stopEndpoints } from './api/stops.ts'
import { toolEndpoints } from './api/tools/tools.ts'
import { tryEndpoints } from './api/tools/try-tool.ts'
import type { Endpoint } from './base/endpoint.ts'

/** All that the API does. */
export const endpoints: readonly Endpoint[] = [
  ...ownEndpoints,
  ...approvalEndpoints,
  ...callEndpoints,
  ...sessionEndpoints,
  ...recordEndpoints,
  ...runEndpoints,
  ...runReplayEndpoints,
  ...toolEndpoints,
  ...tryEndpoints,
  ...serverEndpoints,
  ...serverChangeEndpoints,
  ...serverLoginEndpoints,
  ...stopEndpoints,
  ...evidenceEndpoints,
  ...evidenceFileEndpoints,
  ...overviewEndpoints,
  ...budgetEndpoints,
  ...policyEndpoints,
  ...policyVersionEndpoints,
  ...accessEndpoints,
]

/** What answers a request, and the parts of its path; or that nothing does. */
export function findEndpoint(
  method: string,
  pathname: string,
): { endpoint: Endpoint; path: { [name: string]: string } } | Response {
  const fitting = endpoints.flatMap((endpoint) => {
    const path = matchPath(endpoint.path, pathname)
    return path === undefined ? [] : [{ endpoint, path }]
  })
  const found = fitting.find(({ endpoint }) => endpoint.method === method)
  if (found !== undefined) return found
  if (fitting.length === 0)
    return answerProblem({
      status: 404,
      detail: 'The API has nothing here; /api/openapi.json says what it has.',
    })
  const allow = fitting.map(({ endpoint }) => endpoint.method).join(', ')
  const refused = answerProblem({ status: 405, detail: `The method ${method} is not served here.` })
  refused.headers.set('allow', allow)
  return refused
}

/** The parts that a path in braces names, decoded; undefined if it is another path. */
function matchPath(pattern: string, pathname: string): { [name: string]: string } | undefined {
  const [wanted, given] = [pattern.split('/'), pathname.split('/')]
  if (wanted.length !== given.length) return undefined
  const found: { [name: string]: string } = {}
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? ''
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name === undefined && part !== text) return undefined
    if (name !== undefined) found[name] = decode(text)
  }
  return found
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
