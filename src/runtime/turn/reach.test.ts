import { expect, test } from 'vitest'
import type { Operation } from '../../contract/tool/plan.ts'
import { doMeet, toReach } from './reach.ts'

const read = (path: string): Operation => ({ kind: 'fs.read', path })
const write = (path: string): Operation => ({ kind: 'fs.write', path })
const net = (host: string): Operation => ({ kind: 'net', host, url: `https://${host}/` })
const other = (resource: string): Operation => ({ kind: 'other', resource })
const program: Operation = { kind: 'process', executable: '/bin/ls', argv: ['ls'], cwd: '/w' }

const reading = (...operations: Operation[]) => toReach(operations, 'readonly')
const writing = (...operations: Operation[]) => toReach(operations, 'write')

test.each([
  ['a program', writing(write('/w/a'), program)],
  ['a call that plans nothing', reading()],
  ['a writing call that plans only to read', writing(read('/w/a'))],
  ['a pattern', reading(other('db:*'))],
])('%s may touch anything', (_, reach) => {
  expect(reach).toBeUndefined()
  expect(doMeet(reach, reading(read('/elsewhere')))).toBe(true)
  expect(doMeet(reading(read('/elsewhere')), reach)).toBe(true)
})

test.each([
  ['the same file', reading(read('/w/a')), writing(write('/w/a')), true],
  ['another file', reading(read('/w/a')), writing(write('/w/b')), false],
  ['a file whose name begins alike', reading(read('/w/a')), writing(write('/w/ab')), false],
  ['a folder and a file in it', reading(read('/w')), writing(write('/w/a/b')), true],
  ['a file in a folder that is written', reading(read('/w/a/b')), writing(write('/w/a')), true],
  ['the same file in other letters', reading(read('/w/Ä')), writing(write('/w/a\u0308')), true],
  ['one of several', reading(read('/w/a'), read('/w/b')), writing(write('/w/c'), write('/w/b')), true],
  ['what a write only reads', reading(read('/w/a')), writing(read('/w/a'), write('/w/b')), false],
  ['reads of the same', reading(read('/w/a')), reading(read('/w/a')), false],
  ['any two hosts', reading(net('a.example')), writing(net('b.example')), true],
  ['reads of hosts', reading(net('a.example')), reading(net('a.example')), false],
  ['a host and a file', reading(net('a.example')), writing(write('/w/a')), false],
  ['a resource and a part of it', reading(other('crm:customer')), writing(other('crm:customer/7')), true],
  ['two resources', reading(other('crm:customer/7')), writing(other('crm:order/7')), false],
])('%s', (...[, one, another, expected]) => {
  expect([doMeet(one, another), doMeet(another, one)]).toEqual([expected, expected])
})
