import { ToolFailure } from '../../../contract/base/errors.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import type { Asker } from '../base/questions.ts'
import { toElicitation } from '../base/to-elicitation.ts'

/** The call goes on only when the person was on a page (revision 2025-11-25). */
const pagesRequired = -32_042
/** More are not shown. */
const maxPages = 4

/**
 * What a refused call ends with, if its server refused it until the person was on a page: the pages are shown, and the failure reports
 * whether the person goes there. Everything else is returned as it is.
 */
export async function showPages(
  error: unknown,
  { server, asker, signal }: { server: UpstreamServer; asker: Asker; signal: AbortSignal },
): Promise<unknown> {
  const pages = readPages(error)
  if (pages.length === 0) return error
  let goesThere = true
  for (const params of pages) {
    const elicitation = toElicitation(server, {
      method: 'elicitation/create',
      params: { ...params, mode: 'url' },
    })
    if (elicitation === undefined || !goesThere) continue
    goesThere = (await asker.elicit(elicitation, signal)).action === 'accept'
  }
  const what = goesThere
    ? 'They were shown it and go there. Call it again when they are done.'
    : 'They did not agree to go there. Go on without it.'
  return new ToolFailure({
    reason: 'upstream_error',
    message: `The MCP server "${server.name}" refused the call until a person was on a page of its choice. ${what}`,
    data: { server: server.name, code: pagesRequired },
  })
}

function readPages(error: unknown): readonly JsonObject[] {
  if (!(error instanceof Error) || !('code' in error) || error.code !== pagesRequired) return []
  const { elicitations } = readJsonObject('data' in error ? error.data : undefined)
  const pages = Array.isArray(elicitations) ? elicitations : []
  return pages.slice(0, maxPages).map(readJsonObject)
}
