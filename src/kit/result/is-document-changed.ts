import { ToolFailure } from '../../contract/base/errors.ts'

/** Whether a write was refused because a document is not what it was expected to be: another writer was faster. */
export function isDocumentChanged(error: unknown): boolean {
  return error instanceof ToolFailure && error.reason === 'document_changed'
}
