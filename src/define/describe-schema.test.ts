import { expect, test } from 'vitest'
import { z } from 'zod'
import { ToolFailure } from '../contract/base/errors.ts'
import { describeSchema } from './describe-schema.ts'

const input = z.object({ n: z.string().transform(Number), m: z.number().refine((m) => m > 1, 'too small') })

test('gives the value that the library made (SDK-2)', () => {
  expect(describeSchema(input).parse?.({ n: '5', m: 2 })).toEqual({ n: 5, m: 2 })
})

test('throws every fault that the library found, with its pointer (SDK-2)', () => {
  let thrown: unknown
  try {
    describeSchema(input).parse?.({ n: '5', m: 1 })
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ToolFailure)
  expect(thrown).toMatchObject({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: 'The input does not fit: /m: too small',
    faults: [{ pointer: '/m', code: 'does_not_fit', message: 'too small' }],
  })
})

test('JSON Schema needs no parsing', () => {
  expect(describeSchema({ type: 'object' })).toEqual({ schema: { type: 'object' } })
})
