/** What a worker is given. */
export interface Page {
  html: string
  url: string
  to: 'markdown' | 'text'
}

/** What a worker returns. */
export interface ConvertedPage {
  title: string
  text: string
}

/** What is used of the nodes of a document. */
export interface PageNode {
  readonly nodeType: number
  readonly nodeName: string
  readonly textContent: string | null
  readonly childNodes: Iterable<PageNode>
}

/** What is used of its elements. */
export interface PageElement extends PageNode {
  innerHTML: string
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  remove(): void
  querySelectorAll(selector: string): Iterable<PageElement>
}

/** What is used of a document. */
export interface PageDocument {
  readonly body: PageElement
  querySelectorAll(selector: string): Iterable<PageElement>
}
