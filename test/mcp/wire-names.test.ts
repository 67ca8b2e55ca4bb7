import type { Client } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { makePlace } from '../support/command-line.ts'
import { toServer } from '../support/serve-stdio.ts'
import { createClient, textOf, type Era } from './connect.ts'

/** A client of `handrail serve --stdio` in plan mode, in which no tool may change a thing. */
async function planWith(client: Client, more: readonly string[] = []): Promise<Client> {
  await client.connect(toServer(makePlace({}), ['--mode', 'plan', ...more]))
  return client
}

const write = { name: 'code__write_file', arguments: { path: 'a.txt', content: '' } }

test.each<Era>(['legacy', 'modern'])(
  'a denial names the tool as the client calls it, also if it is not listed: %s (MCP-2)',
  async (era) => {
    const client = await planWith(createClient({ era }))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).not.toContain('code__write_file')
    const denied = textOf(await client.callTool(write))
    expect(denied).toContain('POLICY.DENY_TOOL (mode_denied): "code__write_file" cannot be used')
    expect(denied).not.toContain('code.write_file')
    await client.close()
  },
)

test('a denial in compatible names has the compatible name, also if it is not listed (MCP-2)', async () => {
  const client = await planWith(createClient({ era: 'legacy' }), ['--presentation', 'compatible'])
  const input = { file_path: '/a.txt', content: '' }
  const denied = textOf(await client.callTool({ name: 'Write', arguments: input }))
  expect(denied).toContain('"Write" cannot be used')
  await client.close()
})
