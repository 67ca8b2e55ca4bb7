import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { handrail, makePlace, packageRoot } from '../support/command-line.ts'
import { findBlocks, listPages, readPage } from '../support/markdown.ts'

const schemaOf = { 'config.json': 'config', 'policy.json': 'policy', 'handrail.json': 'project' } as const
type FileName = keyof typeof schemaOf

const examples = ['docs/configuration.md', 'docs/policy.md']
  .flatMap((page) => findBlocks(readPage(page)))
  .filter((block) => block.language === 'json')
const exampleOf = (name: FileName) => examples.find((block) => block.heading === name)?.code ?? ''

function publishedSchema(name: FileName): AnySchemaObject {
  const path = join(packageRoot, 'schemas', `${schemaOf[name]}.json`)
  return JSON.parse(readFileSync(path, 'utf8')) as AnySchemaObject
}

const names = Object.keys(schemaOf) as FileName[]

test('every JSON example of every page is JSON', () => {
  const blocks = listPages().flatMap((page) => findBlocks(readPage(page)))
  const json = blocks.filter((block) => block.language === 'json')
  expect(json.length).toBeGreaterThanOrEqual(3)
  for (const { code } of json) expect(() => JSON.parse(code) as unknown).not.toThrow()
})

test.each(names)(
  'the example of %s fits the published schema, and the schema refuses unknown keys',
  (name) => {
    const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(publishedSchema(name))
    const example = JSON.parse(exampleOf(name)) as Record<string, unknown>
    expect([validate(example), validate.errors]).toEqual([true, null])
    expect(validate({ ...example, $schema: `https://example.com/${schemaOf[name]}.json` })).toBe(true)
    expect(validate({ ...example, colour: 'red' })).toBe(false)
  },
)

test('the three examples together start the command line, with nothing to complain about', async () => {
  const place = makePlace(
    { 'handrail.json': exampleOf('handrail.json') },
    { 'config.json': exampleOf('config.json'), 'policy.json': exampleOf('policy.json') },
  )
  mkdirSync(join(place.user, 'docs'))
  const { code, stdout, stderr } = await handrail(place, ['tools'])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('code.read_file')
  // The example of the project takes this one away.
  expect(stdout).not.toContain('code.run_command')
})
