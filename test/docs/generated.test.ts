import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { generatedFiles } from '../../scripts/generated-files.ts'

const root = join(import.meta.dirname, '..', '..')

describe('generated files say what the code says (run "npm run docs" to write them anew)', () => {
  test.each([...generatedFiles()])('%s', (path, text) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text)
  })
})
