import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import { parseToolFile } from './parse-tool-file.ts'
import { toolFileSchema } from './tool-file-schema.ts'
import { toTool } from './to-tool.ts'
import { rounds } from '../../test/support/rounds.ts'

const checker = createSchemaChecker()
const fields = Object.keys(toolFileSchema.properties ?? {})

/** Texts that mean something in a tool file, and any other JSON. */
const value = fc.oneof(
  fc.constantFrom<unknown>(
    '{{a}}',
    '--',
    '-c',
    'sh',
    'shell',
    'text',
    'readonly',
    '$1',
    '"$1"',
    '__proto__',
    '\0',
    '\ud800',
    'a.b',
    null,
    5,
    [],
    {},
  ),
  fc.constantFrom<unknown>(
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    ['{{a}}'],
    [['-a', '{{a}}']],
    ['-c', '{{a}}'],
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

test('whatever a file says, it is a tool or has issues with pointers', () => {
  const said = fc.dictionary(fc.oneof(fc.constantFrom(...fields), fc.string({ maxLength: 8 })), value, {
    maxKeys: 8,
  })
  let taken = 0
  fc.assert(
    fc.property(said, fc.boolean(), (file, isNearlyRight) => {
      const whole = isNearlyRight ? { name: 'a.b', description: 'x', command: 'true', ...file } : file
      const parsed = parseToolFile(JSON.stringify(whole), checker)
      if ('issues' in parsed) {
        expect(parsed.issues.length).toBeGreaterThan(0)
        for (const { pointer, message } of parsed.issues) {
          expect(pointer).toMatch(/^(\/|$)/)
          expect(message).not.toBe('')
        }
      } else {
        taken++
        expect(toTool(parsed.file, '/home/tools/a.json', { checker, env: {} }).definition.name).toBe(
          parsed.file.name,
        )
      }
    }),
    { numRuns: rounds({ usual: 800, long: 3_000 }) },
  )
  expect(taken).toBeGreaterThan(10)
})

test('text that is not JSON is one issue', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const parsed = parseToolFile(text, checker)
      expect('issues' in parsed && parsed.issues.length).toBeGreaterThan(0)
    }),
  )
})
