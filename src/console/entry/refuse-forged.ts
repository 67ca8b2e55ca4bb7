import { answerProblem } from '../base/answers.ts'
import type { Visitor } from '../base/roles.ts'

/**
 * Refuses a change that no page of the console sent. A browser sends cookies along whatever page asks, so that a change shows a token that only a page of
 * the console can read.
 */
export function refuseForged(request: Request, { csrf }: Visitor): Response | undefined {
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  const isForeign =
    (site !== null && site !== 'same-origin' && site !== 'none') ||
    (origin !== null && !isOf(origin, new URL(request.url).host))
  if (csrf === undefined || (!isForeign && request.headers.get('x-csrf-token') === csrf)) return undefined
  return answerProblem({
    status: 403,
    detail: 'The X-CSRF-Token is not that of your visit. Load the page anew.',
    code: 'forged',
  })
}

/** A proxy in front may speak TLS, so that only the host has to be the same. */
function isOf(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host
}
