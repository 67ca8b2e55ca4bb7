import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createClient, textOf } from '../mcp/connect.ts'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test('the program of the page serves its tools to callers that it knows', async () => {
  const [block] = findBlocks(readPage('docs/mcp.md')).filter(({ language }) => language === 'ts')
  const place = makePlace()
  const code = (block?.code ?? '')
    .replace("project: '.'", `project: ${JSON.stringify(place.project)}`)
    .replace('listen(3000,', 'listen(0,')
    .replace("console.log('ready')", 'console.log(`ready at ${server.address().port}!`)')
  const running = startProgram(place, [onBundle, '--input-type=module-typescript', '--eval', code], {
    cwd: packageRoot,
  })
  await running.saw('!')
  const [, port = ''] = /ready at (\d+)!/.exec(running.output.stdout) ?? []
  const connect = async (authorization: string) => {
    const client = createClient({ era: 'modern' })
    const url = new URL(`http://127.0.0.1:${port}`)
    await client.connect(
      new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }),
    )
    return client
  }
  const client = await connect('Bearer of-ann')
  expect(textOf(await client.callTool({ name: 'shop__whoami', arguments: {} }))).toBe('local/ann')
  await expect(connect('Bearer of-bob')).rejects.toThrow()
  await client.close()
  running.child.kill('SIGKILL')
  await running.ended
})
