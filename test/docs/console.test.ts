import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { handrail, makePlace, packageRoot } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

const [block] = findBlocks(readPage('docs/console.md')).filter(({ language }) => language === 'json')
const example = JSON.parse(block?.code ?? '') as { console: { login: object }; host: string }

test('the example of the log-in fits the published schema, and a gateway starts with it and its secret only', async () => {
  const path = join(packageRoot, 'schemas', 'gateway.json')
  const schema = JSON.parse(readFileSync(path, 'utf8')) as AnySchemaObject
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema)
  expect([validate(example), validate.errors]).toEqual([true, null])
  const odd = {
    ...example,
    console: { ...example.console, login: { ...example.console.login, role: 'admin' } },
  }
  expect(validate(odd)).toBe(false)
  // Nobody else on the network of who runs the tests is served.
  const place = makePlace({}, { 'gateway.json': { ...example, host: '127.0.0.1' } })
  const { stderr } = await handrail(place, ['serve', '--port', '0'])
  expect(stderr).toContain('CONSOLE_CLIENT_SECRET')
  const server = await startServer(place, ['--port', '0'], { CONSOLE_CLIENT_SECRET: 'x' })
  const { origin } = new URL(server.url)
  const refused = (await (await fetch(`${origin}/api/me`)).json()) as object
  expect(refused).toMatchObject({ status: 401, login: { name: 'login.example', path: '/enter/login' } })
})
