import { Readability } from '@mozilla/readability'
// The same in one file, which loads five times as fast.
import { parseHTML } from 'linkedom/worker'
import { dropInvisible } from '../../kit/text/drop-invisible.ts'
import { dropHidden } from './drop-hidden.ts'
import type { ConvertedPage, Page, PageDocument, PageElement } from './page.ts'
import { toMarkdown } from './to-markdown.ts'
import { toText } from './to-text.ts'

/** An article must be this long, and this much of the page, or the whole page is taken. */
const leastArticleLetters = 250
const leastShare = 0.3

/** The readable part of a page. Takes as long as it takes: run it where it can be ended. */
export function convertPage({ html, url, to }: Page): ConvertedPage {
  // Before it is read, since some of them count as white space; and after, since some are written as entities.
  const source = dropInvisible(html)
  const page = readPage(source, url)
  // It takes the document apart.
  const part = takeArticle(page.document) ?? readPage(source, url).document.body
  const text = to === 'markdown' ? toMarkdown(part) : toText(part)
  return { title: dropInvisible(page.title).replaceAll(/\s+/g, ' ').trim(), text: dropInvisible(text).trim() }
}

/** What a reader would see of a page, and its title apart from it. */
function readPage(html: string, url: string): { document: PageDocument; title: string } {
  const document = readDocument(html)
  dropHidden(document)
  resolveLinks(document, url)
  const titles = [...document.querySelectorAll('title')]
  for (const title of titles) title.remove()
  return { document, title: titles[0]?.textContent ?? '' }
}

/** The tags of the outermost elements may be left out, and are in many pages: the body is what remains without them. */
function readDocument(html: string): PageDocument {
  const content = html.replaceAll(/<(?:!doctype|\/?(?:html|head|body))\b[^<>]*>/gi, '')
  const whole = `<!doctype html><html><head></head><body>${content}</body></html>`
  // Its types are those of a browser, of which a few are used.
  return parseHTML(whole).document as unknown as PageDocument
}

/** Links lead where a browser would go; those that lead nowhere on the web are no links. */
function resolveLinks(document: PageDocument, url: string): void {
  const [base] = document.querySelectorAll('base[href]')
  const from = toUrl(base?.getAttribute('href') ?? '', url)?.href ?? url
  for (const link of document.querySelectorAll('a[href]')) {
    const target = toUrl(link.getAttribute('href') ?? '', from)
    if (target !== undefined && /^(https?|mailto):$/.test(target.protocol))
      link.setAttribute('href', target.href)
    else link.removeAttribute('href')
  }
}

function toUrl(text: string, base: string): URL | undefined {
  return URL.canParse(text, base) ? new URL(text, base) : undefined
}

/** What a reader came for, without what stands around it on every page; undefined if that cannot be told. */
function takeArticle(document: PageDocument): PageElement | undefined {
  const all = lettersOf(document.body)
  const article = new Readability(document as never).parse()
  if (article?.content === undefined || article.content === null) return undefined
  const { body } = readDocument(article.content)
  const letters = lettersOf(body)
  return letters >= leastArticleLetters && letters >= all * leastShare ? body : undefined
}

function lettersOf({ textContent }: PageElement): number {
  return (textContent ?? '').replaceAll(/\s+/g, ' ').length
}
