import { expect, test } from 'vitest'
import { sampleBegin, sampleEnd } from '../../../testing/store-checks/sample-records.ts'
import { toStoredRecord } from './stored-record.ts'

function placeOf(text: string): unknown {
  const { kind, session, call } = toStoredRecord(['local', 1, text, 'hash', null])
  return { kind, session, call }
}

const about = { tenant: 'local', at: 1, message: 'text with "call":"other"' }

test.each([
  [sampleBegin('a').record, { kind: 'begin', session: 'session_1', call: 'a' }],
  [sampleEnd('a').record, { kind: 'end', session: 'session_1', call: 'a' }],
  [sampleBegin('a', { tenant: '"t\\' }).record, { kind: 'begin', session: 'session_1', call: 'a' }],
  [sampleBegin('a"\\', { session: 'é"\n' }).record, { kind: 'begin', session: 'é"\n', call: 'a"\\' }],
  [sampleBegin('\ud800').record, { kind: 'begin', session: 'session_1', call: '\ufffd' }],
  [
    { kind: 'note', event: 'tool_paused', ...about, session: '' },
    { kind: 'note', session: '', call: '' },
  ],
  [
    {
      kind: 'note',
      event: 'permission_failed',
      tenant: 'local',
      session: 's',
      call: 'c',
      at: 1,
      message: '',
    },
    { kind: 'note', session: 's', call: 'c' },
  ],
  [
    { kind: 'checkpoint', event: 'checkpoint', tenant: 'local', session: '', at: 1 },
    { kind: 'checkpoint', session: '', call: '' },
  ],
])('finds the place of a record in its text (%#)', (record, place) => {
  expect(placeOf(JSON.stringify(record))).toEqual(place)
})

test.each(['', '{', 'null', '[]', '"begin"', '{"kind":"other","session":1,"call":null}'])(
  'gives what is not a record as a note that names nothing (%#)',
  (text) => {
    expect(placeOf(text)).toEqual({ kind: 'note', session: '', call: '' })
  },
)
