import { expect, test } from 'vitest'
import { createFrameReader, toFrame } from './frames.ts'

function reader() {
  const seen: unknown[] = []
  return { seen, read: createFrameReader((message) => seen.push(message)) }
}

test('messages are read however their bytes are cut', () => {
  const bytes = Buffer.concat([toFrame({ id: 1, text: 'größe 🐕' }), toFrame({ id: 2 }), toFrame({ id: 3 })])
  for (let size = 1; size <= bytes.length; size++) {
    const { seen, read } = reader()
    for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size))
    expect(seen).toEqual([
      { jsonrpc: '2.0', id: 1, text: 'größe 🐕' },
      { jsonrpc: '2.0', id: 2 },
      { jsonrpc: '2.0', id: 3 },
    ])
  }
})

test('further fields of the head are left alone', () => {
  const { seen, read } = reader()
  read(Buffer.from('content-type: x\r\nCONTENT-LENGTH:  2 \r\n\r\n{}'))
  expect(seen).toEqual([{}])
})

test.each([
  ['no head', 'y'.repeat(5_000)],
  ['a head without an end, in pieces', 'Content-Length: 3\r\n'.repeat(300)],
  ['no length', 'Content-Type: x\r\n\r\n{}'],
  ['a length of nothing', 'Content-Length: 0\r\n\r\n'],
  ['a negative length', 'Content-Length: -5\r\n\r\n{}'],
  ['a length that is too long', 'Content-Length: 16777217\r\n\r\n{}'],
  ['broken JSON', 'Content-Length: 2\r\n\r\n{]'],
])('%s is not a message', (_name, text) => {
  const { seen, read } = reader()
  expect(() => {
    for (const part of text.match(/[^]{1,100}/g) ?? []) read(Buffer.from(part))
  }).toThrow()
  expect(seen).toEqual([])
})

test('many small messages in one piece are read one by one', () => {
  const { seen, read } = reader()
  read(Buffer.concat(Array.from({ length: 50_000 }, (_, id) => toFrame({ id }))))
  expect(seen).toHaveLength(50_000)
})
