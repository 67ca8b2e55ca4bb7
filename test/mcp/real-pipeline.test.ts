import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { codeTools, createRuntime, defineTool } from 'handrail'
import { describe, expect, test } from 'vitest'
import { serveHttp, type HttpOptions } from '../../src/mcp/server/http/serve-http.ts'
import { createClient, textOf, type Era } from './connect.ts'

interface Gateway extends AsyncDisposable {
  readonly project: string
  readonly asked: string[]
  readonly client: ReturnType<typeof createClient>
  readonly records: () => { kind: string; event: string; origin?: string }[]
}

const slow = defineTool({
  name: 'demo.slow',
  description: 'Runs until it is aborted.',
  permission: 'readonly',
  run: async (context) => {
    context.progress({ message: 'running' })
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve, { once: true }))
    throw new Error('aborted')
  },
})

/** A client of the whole thing: the built-in tools, in the pipeline, in a folder of their own. */
async function openGateway(
  era: Era,
  { decision, presentation }: { decision?: string } & Pick<HttpOptions, 'presentation'> = {},
): Promise<Gateway> {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'handrail-mcp-')))
  const runtime = await createRuntime({ project, tools: [codeTools(), slow], onError: () => {} })
  const server = await serveHttp({
    runtime,
    port: 0,
    closeGraceMs: 50,
    log: () => {},
    ...(presentation && { presentation }),
  })
  const asked: string[] = []
  const client = createClient({
    era,
    ...(decision !== undefined && {
      onAsk: (message: string) => {
        asked.push(message)
        return { action: 'accept' as const, content: { decision } }
      },
    }),
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
  return {
    project,
    asked,
    client,
    records: () =>
      [...runtime.store.records({ tenant: 'local' })].map(
        ({ text }) => JSON.parse(text) as { kind: string; event: string },
      ),
    async [Symbol.asyncDispose]() {
      await client.close()
      await server.close()
      await runtime.close()
      await rm(project, { recursive: true })
    },
  }
}

describe.each(['legacy', 'modern'] as const)('%s', (era) => {
  test('every call goes through the pipeline and leaves its evidence (MCP-2, EVID-1)', async () => {
    await using gateway = await openGateway(era)
    await writeFile(join(gateway.project, 'a.txt'), 'one\ntwo\n')
    const read = await gateway.client.callTool({ name: 'code__read_file', arguments: { path: 'a.txt' } })
    expect(textOf(read)).toContain('two')
    const outside = await gateway.client.callTool({
      name: 'code__read_file',
      arguments: { path: '/etc/passwd' },
    })
    expect(textOf(outside)).toContain('path_outside_roots')
    const wrong = await gateway.client.callTool({ name: 'code__read_file', arguments: { file: 'a.txt' } })
    expect(textOf(wrong)).toContain('SCHEMA.VALIDATION_FAILED (invalid_input)')
    const unknown = await gateway.client.callTool({ name: 'code__raed_file' })
    expect(textOf(unknown)).toContain('tool_not_available')
    expect(textOf(unknown)).toMatch(/Did you mean "code__read_file"/)
    const records = gateway.records()
    expect(records.filter(({ kind }) => kind === 'begin').map(({ origin }) => origin)).toEqual(
      Array(4).fill('llm'),
    )
    expect(records.filter(({ kind }) => kind === 'end')).toHaveLength(4)
  })

  test('descriptions and errors name tools as the client calls them, and the rule for the operator as policies do (NAME-5)', async () => {
    await using gateway = await openGateway(era, { decision: 'allow_once' })
    const { tools } = await gateway.client.listTools()
    const described = tools.find(({ name }) => name === 'code__write_file')?.description
    expect(described).toContain('use code__edit_file')
    const write = { name: 'code__write_file', arguments: { path: 'a.txt', content: 'code.edit_file' } }
    await gateway.client.callTool(write)
    expect(textOf(await gateway.client.callTool(write))).toContain('Change it with code__edit_file')
    const read = await gateway.client.callTool({ name: 'code__read_file', arguments: { path: 'a.txt' } })
    expect(textOf(read)).toContain('code.edit_file')

    await using alone = await openGateway(era)
    const denied = textOf(await alone.client.callTool(write))
    expect(denied).toContain('"code__write_file" needs a person')
    expect(denied).toContain('{"effect":"allow","tools":["code.write_file"]}')
    expect(denied).toContain('runtime.consents.give({"tool":"code.write_file"')

    await using compatible = await openGateway(era, { presentation: 'compatible' })
    const denial = textOf(
      await compatible.client.callTool({ name: 'Write', arguments: { file_path: 'b', content: '' } }),
    )
    expect(denial).toContain('"Write" needs a person')
  })

  test('a write shows its preview in the client and happens after the yes (PERM-3, MCP-2)', async () => {
    await using gateway = await openGateway(era, { decision: 'allow_once' })
    const call = { name: 'code__write_file', arguments: { path: 'new.txt', content: 'hello\n' } }
    const result = await gateway.client.callTool(call)
    expect(result.isError ?? false).toBe(false)
    expect(await readFile(join(gateway.project, 'new.txt'), 'utf8')).toBe('hello\n')
    expect(gateway.asked).toHaveLength(1)
    expect(gateway.asked[0]).toContain('(code.write_file)?')
    expect(gateway.asked[0]).toContain('+hello')
  })

  test('a yes for the session holds for the next call, a no does not happen (PERM-4, PERM-5)', async () => {
    const write = (gateway: Gateway, path: string) =>
      gateway.client.callTool({ name: 'code__write_file', arguments: { path, content: 'x' } })
    {
      await using gateway = await openGateway(era, { decision: 'allow_for_session' })
      await write(gateway, 'one.txt')
      await write(gateway, 'two.txt')
      expect(gateway.asked).toHaveLength(1)
    }
    await using gateway = await openGateway(era, { decision: 'deny' })
    expect(textOf(await write(gateway, 'one.txt'))).toContain('POLICY.APPROVAL_DENIED (denied)')
    await expect(readFile(join(gateway.project, 'one.txt'))).rejects.toThrow('ENOENT')
  })

  test('a write is denied where nobody can be asked (PERM-5)', async () => {
    await using gateway = await openGateway(era)
    const result = await gateway.client.callTool({
      name: 'code__write_file',
      arguments: { path: 'a', content: 'x' },
    })
    expect(textOf(result)).toContain('POLICY.APPROVAL_DENIED (no_callback)')
  })

  test('a cancelled call ends in the pipeline as aborted, with its progress seen (SCHED-6, CALL-7)', async () => {
    await using gateway = await openGateway(era)
    const cancel = new AbortController()
    const call = gateway.client.callTool(
      { name: 'demo__slow' },
      { signal: cancel.signal, onprogress: ({ message }) => message === 'running' && cancel.abort('enough') },
    )
    await expect(call).rejects.toThrow('enough')
    await expect.poll(() => gateway.records().at(-1)).toMatchObject({ kind: 'end', outcome: 'aborted' })
  })

  test('the compatible presentation shows and takes the names that models know (NAME-6)', async () => {
    await using gateway = await openGateway(era, { presentation: 'compatible' })
    await writeFile(join(gateway.project, 'a.txt'), 'one\n')
    const { tools } = await gateway.client.listTools()
    expect(tools.map(({ name }) => name)).toContain('Read')
    const path = join(gateway.project, 'a.txt')
    expect(textOf(await gateway.client.callTool({ name: 'Read', arguments: { file_path: path } }))).toContain(
      'one',
    )
  })
})
