import { findBaseUrlFlaw } from '../../config/base/model-name.ts'
import { showLine } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'

/** The URL of a provider, as it was typed. */
export function readBaseUrl(text: string | undefined): string | undefined {
  const flaw = text === undefined ? undefined : findBaseUrlFlaw(text)
  if (flaw !== undefined) throw new UsageError(showLine(`--base-url ${flaw}`))
  return text
}
