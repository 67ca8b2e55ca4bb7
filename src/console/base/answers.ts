/** Of every answer with data: it is of this moment, and for its visitor alone. */
const unstored = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export function answerJson(
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: { readonly [name: string]: string } } = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...unstored, ...headers },
  })
}

/** What is wrong with a request, as a problem of RFC 9457. */
export interface Problem {
  readonly status: number
  readonly detail: string
  /** What a program tells problems of one status apart by. */
  readonly code?: string
  /** JSON pointers or names of what is wrong, with what is. */
  readonly issues?: readonly object[]
  /** Where a person logs in who did not. */
  readonly login?: { readonly name: string; readonly path: string; readonly logOut: string }
}

/** As RFC 9110 names them. */
const titles: ReadonlyMap<number, string> = new Map([
  [400, 'Bad Request'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'Not Found'],
  [405, 'Method Not Allowed'],
  [409, 'Conflict'],
  [413, 'Content Too Large'],
  [415, 'Unsupported Media Type'],
])

export function answerProblem({ status, ...problem }: Problem): Response {
  const title = titles.get(status) ?? 'Refused'
  return answerJson(
    { type: 'about:blank', title, status, ...problem },
    { status, headers: { 'content-type': 'application/problem+json' } },
  )
}

/** Refuses a request that would change something where nothing can be changed. */
export function onlyGet({ method }: Request): Response | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined
  return answerProblem({ status: 405, detail: `The method ${method} is not served here.` })
}
