import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'

interface Listed {
  name: string
  tool: string
  title: string
  description: string
  input_schema: { type: string; properties: Record<string, unknown> }
}

const codeTools = [
  'code.edit_file',
  'code.glob',
  'code.list_dir',
  'code.read_file',
  'code.run_command',
  'code.search',
  'code.write_file',
]

test('lists the effective set in a stable order, and makes nothing (REG-9)', async () => {
  const place = makePlace()
  const first = await handrail(place, ['tools'])
  expect(first.code).toBe(0)
  const rows = first.stdout.trimEnd().split('\n')
  expect(rows.at(-1)).toBe(`${rows.length - 1} tools`)
  const names = rows.slice(0, -1).map((row) => row.split(' ')[0])
  expect(names).toEqual(expect.arrayContaining(codeTools))
  expect(names).toEqual([...names].sort((left = '', right = '') => (left < right ? -1 : 1)))
  expect((await handrail(place, ['tools'])).stdout).toBe(first.stdout)
  expect(existsSync(place.home)).toBe(false)
})

test('--json gives what a model sees: name, description, input schema, and nothing of permissions (REG-5)', async () => {
  const listed = jsonOf<Listed[]>(await handrail(makePlace(), ['tools', '--json']))
  const read = listed.find((tool) => tool.name === 'code.read_file')
  expect(read).toMatchObject({ tool: 'code.read_file', input_schema: { type: 'object' } })
  expect(read?.input_schema.properties).toHaveProperty('start_line')
  expect(read?.description).toMatch(/line/)
  for (const tool of listed)
    for (const key of ['permission', 'consent', 'capabilities', 'safety', 'scopes'])
      expect(tool).not.toHaveProperty(key)
})

test('--face familiar shows the names that models already know', async () => {
  const listed = jsonOf<Listed[]>(await handrail(makePlace(), ['tools', '--json', '--face', 'familiar']))
  const names = new Map(listed.map((tool) => [tool.tool, tool.name]))
  expect(names.get('code.read_file')).toBe('Read')
  expect(names.get('code.write_file')).toBe('Write')
})

test('configuration and project take tools away, and the role counts (POOL-1, POOL-2)', async () => {
  const place = makePlace(
    { 'handrail.json': JSON.stringify({ disallowedTools: ['code.search'] }) },
    { 'config.json': { allowedTools: ['code.*'], disallowedTools: ['code.run_command'] } },
  )
  const { stdout } = await handrail(place, ['tools', '--role', 'worker'])
  expect(stdout).not.toMatch(/code\.search|code\.run_command/)
  expect(stdout).toContain('code.read_file')
})
