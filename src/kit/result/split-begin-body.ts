/**
 * The two lines of the body of a begin: the redacted input, and the planned operations where there are any, each JSON text. JSON
 * text has no line breaks, so the first one parts them.
 */
export function splitBeginBody(body: string): { input: string; operations: string | undefined } {
  const end = body.indexOf('\n')
  if (end === -1) return { input: body, operations: undefined }
  return { input: body.slice(0, end), operations: body.slice(end + 1) }
}
