import TurndownService from 'turndown'
import type { PageElement, PageNode } from './page.ts'

/** Markdown of an element. */
export function toMarkdown(element: PageElement): string {
  const turndown = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '_',
  })
  turndown.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content) =>
      ` ${content
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
        .replaceAll('|', '\\|')} |`,
  })
  turndown.addRule('row', {
    filter: 'tr',
    replacement: (content, row) =>
      `\n|${content}${isHeading(row) ? `\n|${' --- |'.repeat(countCells(row))}` : ''}`,
  })
  turndown.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` })
  turndown.addRule('rows', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content })
  // It takes the nodes of any document.
  return turndown.turndown(element as never)
}

function cellsOf(row: PageNode): PageNode[] {
  return [...row.childNodes].filter(({ nodeName }) => /^T[HD]$/i.test(nodeName))
}

function countCells(row: PageNode): number {
  return cellsOf(row).length
}

function isHeading(row: PageNode): boolean {
  const cells = cellsOf(row)
  return cells.length > 0 && cells.every(({ nodeName }) => /^TH$/i.test(nodeName))
}
