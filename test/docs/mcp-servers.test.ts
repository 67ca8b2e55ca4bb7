import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js'
import { mcpTools } from 'handrail/mcp'
import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

const blocks = findBlocks(readPage('docs/mcp-servers.md'))

test('the servers of the page can be used, and fit the published schema (MCP-1)', () => {
  const file = JSON.parse(blocks.find(({ language }) => language === 'json')?.code ?? '') as {
    mcpServers: object
  }
  expect(Object.keys(file.mcpServers)).toHaveLength(2)
  mcpTools({ servers: { ...file.mcpServers } })
  const schema = JSON.parse(readFileSync(join(packageRoot, 'schemas', 'mcp.json'), 'utf8')) as AnySchemaObject
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema)
  expect([validate(file), validate.errors]).toEqual([true, null])
  expect(validate({ mcpServers: { a: { command: 1 } } })).toBe(false)
  const login = JSON.parse(blocks.find(({ heading }) => heading === 'Logging in')?.code ?? '') as {
    mcpServers: object
  }
  expect(Object.keys(login.mcpServers)).toEqual(['tracker', 'reports'])
  mcpTools({ servers: { ...login.mcpServers } })
  expect([validate(login), validate.errors]).toEqual([true, null])
})

test('the program of the page runs and prints what the page says (MCP-1)', async () => {
  const code = blocks.find(({ language }) => language === 'ts')?.code ?? ''
  const running = startProgram(makePlace(), [onBundle, '--input-type=module-typescript', '--eval', code], {
    cwd: packageRoot,
  })
  running.child.stdin.end()
  const { code: exit, stdout, stderr } = await running.ended
  expect([exit, stderr, stdout]).toEqual([0, '', 'true\n'])
})
