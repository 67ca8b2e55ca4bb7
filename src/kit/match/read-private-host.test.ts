import { expect, test } from 'vitest'
import { readPrivateHost } from './read-private-host.ts'

const range = (address: string, prefix: number, port?: number) => ({
  kind: 'range',
  address,
  prefix,
  family: address.includes(':') ? 6 : 4,
  port,
})

test.each([
  ['127.0.0.1', range('127.0.0.1', 32)],
  ['127.0.0.1:8080', range('127.0.0.1', 32, 8080)],
  ['10.1.0.0/16', range('10.1.0.0', 16)],
  ['10.1.0.0/16:81', range('10.1.0.0', 16, 81)],
  ['::1', range('::1', 128)],
  ['[::1]', range('::1', 128)],
  ['[::1]:8080', range('::1', 128, 8080)],
  ['fd00::/8', range('fd00::', 8)],
  ['[fd00::]/8:80', range('fd00::', 8, 80)],
  ['Intranet.Example', { kind: 'name', pattern: 'intranet.example', port: undefined }],
  ['*.corp.example:8443', { kind: 'name', pattern: '*.corp.example', port: 8443 }],
])('%s is a part of the own network', (text, read) => expect(readPrivateHost(text)).toEqual(read))

test.each([
  '',
  '*',
  '*:80',
  '127.1',
  '1270.0.0.1',
  '10.0.0.0/33',
  'fd00::/129',
  '127.0.0.1:0',
  '127.0.0.1:65536',
  'name/8',
  '[name]',
  'http://intranet.example',
  'intranet.example/path',
  'a b',
  'x.*.example',
  '.example',
])('%j is none', (text) => expect(readPrivateHost(text)).toBe(undefined))
