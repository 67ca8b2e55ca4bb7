import { showLine } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'

/** The URL of a provider, as it was typed. */
export function readBaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.host === '')
    throw new UsageError(
      `--base-url is "${showLine(text)}"; it must be a URL, such as http://127.0.0.1:11434/v1.`,
    )
  if (url.username !== '' || url.password !== '')
    throw new UsageError(
      '--base-url holds a name or a password, which is kept with the run. Leave them out; a key has its environment variable.',
    )
  return text
}
