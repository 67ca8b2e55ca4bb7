import { expect, test } from 'vitest'
import { convertPage } from './convert-page.ts'

const convert = (html: string, to: 'markdown' | 'text' = 'markdown') =>
  convertPage({ html, url: 'https://a.example/d/', to })

test.each([
  ['', ''],
  ['<!doctype html>', ''],
  ['<html></html>', ''],
  ['<svg>', ''],
  ['plain', 'plain'],
  ['<html lang=en>\n<p>no body', 'no body'],
  ['<!doctype html><title>t</title><p>no tags around', 'no tags around'],
  ['<HTML><BODY>capitals</BODY></HTML>', 'capitals'],
  ['<html><body>one</body><body> two</body></html>', 'one two'],
  ['<!-- <html> -->after a comment', 'after a comment'],
  ['</div></p>stray ends', 'stray ends'],
  [
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>XHTML</p></body></html>',
    'XHTML',
  ],
  ['<p>&#xD800;&#0;</p>', '\uFFFD\uFFFD'],
  ['<p>a<br>b</p>', 'a  \nb'],
])('%j is read as a browser would', (html, text) => expect(convert(html).text).toBe(text))

test('the title stands apart, once', () => {
  expect(convert('<head><title> Of\n ships </title></head><body><p>Text</p>')).toEqual({
    title: 'Of ships',
    text: 'Text',
  })
})

test('links lead where a browser would go, or nowhere', () => {
  const links =
    '<a href="x">one</a> <a href="//b.example/y">two</a> <a href="javascript:x()">three</a> <a href="http://[">four</a>'
  expect(convert(`<p>${links}</p>`).text).toBe(
    '[one](https://a.example/d/x) [two](https://b.example/y) three four',
  )
  expect(convert(`<base href="/e/"><p>${links}</p>`).text).toContain('(https://a.example/e/x)')
})

test('an article is taken out of what stands around it', () => {
  const menu = `<nav>${'<a href="/m">Menu</a> '.repeat(20)}</nav>`
  const article = `<article><h1>News</h1>${'<p>Words of an article, and more of them, and more.</p>'.repeat(20)}</article>`
  const { text } = convert(`<body>${menu}${article}<footer>Imprint</footer></body>`)
  expect(text).toContain('Words of an article')
  expect(text).not.toContain('Menu')
})
