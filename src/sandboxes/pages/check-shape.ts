import { setImmediate } from 'node:timers/promises'
import { Parser } from 'htmlparser2'
import { ToolFailure } from '../../contract/base/errors.ts'

const maxDepth = 512
const maxElements = 50_000
/** So much at a time, so that other calls get their turn. */
const sliceLetters = 64 * 1024

/** Fails with `html_limit` at the first element that is too deep or one too many, without building anything of the page. */
export async function checkShape(html: string): Promise<void> {
  let depth = 0
  let elements = 0
  const parser = new Parser({
    onopentagname() {
      if (++depth > maxDepth) throw tooMuch(`has elements more than ${maxDepth} deep in each other`)
      if (++elements > maxElements) throw tooMuch(`has more than ${maxElements} elements`)
    },
    onclosetag() {
      depth--
    },
  })
  for (let start = 0; start < html.length; start += sliceLetters) {
    parser.write(html.slice(start, start + sliceLetters))
    if (start + sliceLetters < html.length) await setImmediate()
  }
}

/** The refusal of a page that costs too much. */
export function tooMuch(what: string): ToolFailure {
  return new ToolFailure({
    reason: 'html_limit',
    message: `The page ${what}, so it was not converted. Ask for format "raw", or for another page.`,
  })
}
