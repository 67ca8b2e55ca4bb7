import { expect, test } from 'vitest'
import type { ToolContext } from '../contract/tool/tool.ts'
import { isBuiltin } from '../kit/builtin-tools.ts'
import { toolOutput } from '../kit/result/tool-output.ts'
import { defineBuiltin } from './define-builtin.ts'

const echo = defineBuiltin({
  name: 'code.echo',
  description: 'Gives back a word.',
  permission: 'readonly',
  needs: ['files'],
  input: { type: 'object', properties: { some_word: { type: 'string' } }, required: ['some_word'] },
  output: { type: 'object' },
  limits: { timeoutMs: 5 },
  decode: (input) => ({ someWord: input.some_word }),
  plan: ({ someWord }) => Promise.resolve({ operations: [], planned: someWord.toUpperCase() }),
  run: ({ someWord }, { planned }) => Promise.resolve(toolOutput({ content: `${someWord} ${planned}` })),
})

// The tool looks at nothing else.
const context = (planned: unknown) => ({ planned }) as ToolContext

test('fills in what a manifest leaves out (DEF-1)', () => {
  expect(echo.definition).toMatchObject({
    version: '1.0.0',
    consent: { required: false },
    capabilities: {
      fs: { read: [], write: [] },
      net: { hosts: [] },
      proc: { executables: [] },
      browser: false,
      tmp: false,
    },
    limits: {
      timeoutMs: 5,
      maxBytesIn: 2_097_152,
      maxBytesOut: 2_097_152,
      maxFiles: 8,
      maxDepth: 4,
      concurrency: 10,
    },
    concurrency: 'parallel',
    idempotency: 'none',
  })
  expect(isBuiltin(echo)).toBe(true)
})

test('hands plan and run the decoded input, and run what was planned (SDK-8)', async () => {
  const input = echo.decode?.({ some_word: 'hi' })
  expect(input).toEqual({ someWord: 'hi' })
  expect(await echo.run(input, context('HI'))).toMatchObject({ content: [{ type: 'text', text: 'hi HI' }] })
})

test('runs nothing that was not planned', () => {
  expect(() => echo.run({ someWord: 'hi' }, context(undefined))).toThrow('only what it has planned')
})
