import { expect, test } from 'vitest'
import { createNetworkRules } from './network-rules.ts'
import { readUrl } from './read-url.ts'

const rules = createNetworkRules({})
const read = (text: string, hosts: readonly string[] = ['*'], base?: string) =>
  readUrl(text, { rules, hosts }, base)

test('a URL has one form, one host and one port', () => {
  expect(read('HTTPS://Example.COM.:443/a/../b?c#d')).toMatchObject({ host: 'example.com', port: 443 })
  expect(read('HTTPS://Example.COM:443/a/../b?c#d').url.href).toBe('https://example.com/b?c')
  expect(read('http://bücher.example/').host).toBe('xn--bcher-kva.example')
  expect(read('http://[2606:4700::1]/')).toMatchObject({
    host: '2606:4700::1',
    literal: '2606:4700::1',
    port: 80,
  })
  expect(read('//other.example/x', ['*'], 'https://example.com/').url.href).toBe('https://other.example/x')
})

test('only hosts that the profile covers are read, at label boundaries; an empty list covers none', () => {
  expect(() => read('http://example.com/', [])).toThrow('(none)')
  for (const host of ['evilexample.com', 'example.com.evil.test', 'www.example.com', 'example.co'])
    expect(() => read(`http://${host}/`, ['example.com'])).toThrow('is not among the hosts')
  expect(read('http://example.com/', ['example.com']).host).toBe('example.com')
  expect(read('http://a.b.example.com/', ['*.example.com']).host).toBe('a.b.example.com')
})
