import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { expect, test } from 'vitest'
import { packageRoot } from '../support/command-line.ts'

test('a door for an agent SDK loads no SDK, neither its own nor another one', () => {
  const root = join(packageRoot, 'src', 'doors')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  )
  const loaded = files.flatMap((path) => {
    const { module } = parseSync(path, readFileSync(join(root, path), 'utf8'))
    expect(module.dynamicImports).toEqual([])
    return module.staticImports.map(({ moduleRequest }) => moduleRequest.value)
  })
  expect(loaded.length).toBeGreaterThan(20)
  // A parser of server-sent events, which is bundled.
  expect(loaded.filter((specifier) => !/^(\.|node:)/.test(specifier))).toEqual(['eventsource-parser'])
})
