import { hidingSelectors } from './hiding-selectors.ts'
import { hides } from './hides.ts'
import type { PageDocument } from './page.ts'

/** What holds no text that a reader would see, or shows it only when something else fails, as the text of a picture. */
const neverShown =
  'script, style, noscript, noembed, noframes, template, datalist, annotation, annotation-xml, iframe, object, embed, svg, canvas, audio, video, img, picture, map, link, meta, input, [hidden], dialog:not([open])'

/** Takes out of a document what a reader would not see, as far as the page itself says so. */
export function dropHidden(document: PageDocument): void {
  const sheets = [...document.querySelectorAll('style')].map((style) => style.textContent ?? '')
  for (const selector of hidingSelectors(sheets.join('\n'))) {
    for (const element of select(document, selector)) {
      // Many pages hide the whole of themselves until their program runs.
      if (!/^(html|body)$/i.test(element.nodeName)) element.remove()
    }
  }
  for (const element of document.querySelectorAll('[style]'))
    if (hides(element.getAttribute('style') ?? '')) element.remove()
  for (const element of document.querySelectorAll(neverShown)) element.remove()
  for (const element of document.querySelectorAll('[title]')) element.removeAttribute('title')
}

function select(document: PageDocument, selector: string) {
  try {
    return [...document.querySelectorAll(selector)]
  } catch {
    // No selector, or one that only a browser knows: then it cannot be said what it hides.
    return []
  }
}
