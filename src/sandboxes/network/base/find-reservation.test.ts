import { expect, test } from 'vitest'
import { findReservation, isInRange, normaliseAddress } from './find-reservation.ts'

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
  '2400:cb00::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
])('%s is of the public internet', (address) => expect(findReservation(address)).toBe(undefined))

test.each([
  ['127.0.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['64:ff9b::7f00:1', 'loopback'],
  ['10.0.0.0', 'private'],
  ['172.16.0.0', 'private'],
  ['192.168.255.255', 'private'],
  ['100.64.0.0', 'carrierGradeNat'],
  ['169.254.169.254', 'linkLocal'],
  ['64:ff9b::a9fe:a9fe', 'linkLocal'],
  ['168.63.129.16', 'provider'],
  ['::ffff:168.63.129.16', 'provider'],
  ['0.0.0.0', 'unspecified'],
  ['::', 'unspecified'],
  ['255.255.255.255', 'broadcast'],
  ['239.255.255.250', 'multicast'],
  ['fd00:ec2::254', 'uniqueLocal'],
  ['::7f00:1', 'reserved'],
  ['2002:808:808::', 'reserved'],
  ['2001:0:808:808::', 'reserved'],
  ['64:ff9b:1::808:808', 'reserved'],
  ['4000::1', 'reserved'],
  ['', 'no address'],
  ['localhost', 'no address'],
  ['0177.0.0.1', 'no address'],
  ['127.1', 'no address'],
  ['127.0.0.1 ', 'no address'],
])('%j is %s', (address, reservation) => expect(findReservation(address)).toBe(reservation))

test('a range holds addresses of its own family, however they are written', () => {
  const range = { address: '10.1.0.0', prefix: 16, family: 4 } as const
  expect(isInRange('10.1.255.255', range)).toBe(true)
  expect(isInRange('::ffff:10.1.0.1', range)).toBe(true)
  expect(isInRange('10.2.0.0', range)).toBe(false)
  expect(isInRange('::a01:1', range)).toBe(false)
  expect(isInRange('fd12::1', { address: 'fd00::', prefix: 8, family: 6 })).toBe(true)
})

test('one address has one text', () => {
  expect(normaliseAddress('::ffff:7f00:1')).toBe(normaliseAddress('127.0.0.1'))
  expect(normaliseAddress('2606:4700:0:0::1')).toBe(normaliseAddress('2606:4700::1'))
  expect(normaliseAddress('2606:4700::1')).not.toBe(normaliseAddress('2606:4700::2'))
})
