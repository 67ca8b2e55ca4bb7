import { createInterface } from 'node:readline'
import type { LoginPerson } from '../../contract/mcp/login.ts'
import type { ReturnPlace } from './listen-for-return.ts'
import { showLine } from '../base/show-safely.ts'

/** Where a person is told what to do, and types what the browser ended at. Who ends the input of a terminal, ends the login. */
export interface LeadingStreams {
  readonly say: (text: string) => void
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
}

/**
 * Tells a person which URL to visit, and waits for them to come back, by their browser or with the URL that it ended at; at the latest until
 * `withinMs` are over. The URL comes from outside: it is shown, and only the person opens it.
 */
export function promptAuthorization(
  place: ReturnPlace,
  { say, input, withinMs }: LeadingStreams & { withinMs: number },
): LoginPerson {
  return {
    redirectUrl: place.redirectUrl,
    async authorize({ server, url, redirectUrl }, signal) {
      say(
        [
          `To log in at "${showLine(server)}", open this page in a browser:`,
          `\n  ${showLine(url)}\n`,
          `It leads back to ${redirectUrl}. If the browser runs on another machine, that page does not open:`,
          `paste its whole address here then.${input.isTTY === true ? ' Ctrl-D gives up.' : ''}`,
          '',
        ].join('\n'),
      )
      const state = new URL(url).searchParams.get('state') ?? ''
      const lines = createInterface({ input })
      const pasted = new Promise<string>((resolve) => {
        lines.on('line', (line) => {
          if (isReturn(line.trim(), { redirectUrl, state })) resolve(line.trim())
          else if (line.trim() !== '')
            say(
              `That is not the expected address. Paste the one that starts with ${redirectUrl}, of this login.\n`,
            )
        })
      })
      const limit = AbortSignal.any([signal, AbortSignal.timeout(withinMs)])
      const late = new Promise<never>((_, reject) => {
        if (input.isTTY === true)
          lines.once('close', () => reject(new Error('The input ended before the browser came back.')))
        limit.addEventListener(
          'abort',
          () => reject(new Error('The browser did not come back in time. Log in once more.')),
          { once: true },
        )
      })
      try {
        return await Promise.race([place.wait(state), pasted, late])
      } finally {
        lines.close()
      }
    },
  }
}

function isReturn(text: string, { redirectUrl, state }: { redirectUrl: string; state: string }): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return `${url.origin}${url.pathname}` === redirectUrl && url.searchParams.get('state') === state
}
