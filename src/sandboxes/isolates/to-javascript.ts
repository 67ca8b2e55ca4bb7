import { stripTypeScriptTypes } from 'node:module'

/** JavaScript with the same lines, or why the text is not TypeScript that can be run without being compiled. */
export type JavaScript = { readonly code: string } | { readonly message: string; readonly line?: number }

/** Takes the types out of TypeScript. */
export function toJavaScript(typescript: string): JavaScript {
  try {
    return { code: stripTypeScriptTypes(typescript) }
  } catch (error) {
    if (!(error instanceof Error)) return { message: 'The program is not TypeScript.' }
    const line = Number(/^[^\n]*:(\d+)\n/.exec(error.stack ?? '')?.[1])
    return { message: error.message, ...(Number.isInteger(line) && { line }) }
  }
}
