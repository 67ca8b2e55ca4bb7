import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { packageRoot } from '../support/command-line.ts'
import { listPages, readPage, toAnchor, withoutBlocks } from '../support/markdown.ts'

function anchorsOf(path: string): Set<string> {
  const headings = withoutBlocks(readPage(path)).matchAll(/^#+ (.*)$/gm)
  return new Set([...headings].map((heading) => toAnchor(heading[1] ?? '')))
}

/** Where a link of a page leads, from the root of the package. */
function resolveLink(page: string, link: string): { path: string; anchor: string } {
  const [target = '', anchor = ''] = link.split('#')
  const path = target === '' ? page : relative(packageRoot, join(packageRoot, dirname(page), target))
  return { path, anchor }
}

describe.each(listPages())('%s', (page) => {
  const text = withoutBlocks(readPage(page))

  test('links lead to files and headings that are there', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '')
    const broken = links
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const { path, anchor } = resolveLink(page, link)
        if (!existsSync(join(packageRoot, path))) return true
        return anchor !== '' && !anchorsOf(path).has(anchor)
      })
    expect(broken).toEqual([])
  })

  test('paths of this repository that it names are there', () => {
    const named = [...text.matchAll(/`((?:src|test|scripts|bin|docs|schemas|bench)\/[^`\s]*)`/g)].map(
      (match) => match[1] ?? '',
    )
    const missing = named
      .filter((path) => !/[<>*{]/.test(path))
      .filter((path) => !existsSync(join(packageRoot, path)))
    expect(missing).toEqual([])
  })

  test('npm scripts that it names are there', () => {
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const named = [...readPage(page).matchAll(/npm run (?:-s )?([\w:-]+)/g)].map((match) => match[1] ?? '')
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })
})

test('there are pages to look at, and they link', () => {
  const pages = listPages()
  expect(pages.length).toBeGreaterThan(8)
  expect(pages.flatMap((page) => [...readPage(page).matchAll(/\]\(/g)]).length).toBeGreaterThan(10)
})

test('the map of the pages links to every page of docs/, and the decisions to every decision', () => {
  const linked = ['docs/README.md', 'docs/decisions/README.md'].flatMap((page) =>
    [...readPage(page).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => resolveLink(page, match[1] ?? '').path),
  )
  const pages = listPages().filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
  expect(pages.filter((page) => !linked.includes(page))).toEqual([])
})
