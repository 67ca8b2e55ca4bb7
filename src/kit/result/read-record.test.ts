import { expect, test } from 'vitest'
import { readRecord } from './read-record.ts'

test('a record of an earlier version names the program of a call in the words of now (EVID-1)', () => {
  const about = { kind: 'begin', call: 'call_2', toolCallId: 'program_1.0.ab' }
  expect(readRecord(JSON.stringify({ ...about, parentCall: 'call_1' }), 'begin')).toEqual({
    ...about,
    partOf: { call: 'call_1', part: 'program_1.0.ab' },
  })
})
