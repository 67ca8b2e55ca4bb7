import { expect, test } from 'vitest'
import { decodeResult } from './encode-result.ts'
import { readRecord } from './read-record.ts'

test('a record of version 0.1 is read in the words of now', () => {
  const begin = JSON.stringify({ kind: 'begin', decision: { effect: 'allow', layer: 'grant', rule: 'r' } })
  expect(readRecord(begin, 'begin').decision).toEqual({
    effect: 'allow',
    layer: 'session-approval',
    rule: 'r',
  })
  const end = JSON.stringify({ kind: 'end', outcome: 'failed', reason: 'supply_missing' })
  expect(readRecord(end, 'end').reason).toBe('service_missing')
  const note = JSON.stringify({ kind: 'note', event: 'definition_held', data: { because: 'grant' } })
  expect(readRecord(note, 'note')).toMatchObject({ event: 'definition_pending', data: { because: 'grant' } })
})

test('a result of version 0.1 is read in the words of now', () => {
  const about = { callId: 'c', toolCallId: 't', tool: 'demo.a', session: 's', durationMs: 1 }
  const text = JSON.stringify({ error: { code: 'TOOL.FAILED', reason: 'supply_missing', message: 'No.' } })
  expect(decodeResult(text, about)).toMatchObject({ outcome: 'failed', error: { reason: 'service_missing' } })
})
