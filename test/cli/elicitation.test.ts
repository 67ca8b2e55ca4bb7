import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { dirname, join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { listUntil } from '../mcp/connect.ts'
import { handrail, makePlace, type Place } from '../support/command-line.ts'
import { ctrlC, ctrlD, openTerminal } from '../support/terminal.ts'
import { unmarked } from '../support/upstreams.ts'
import { rounds } from '../support/rounds.ts'

const script = join(inject('programs'), 'asking-server.mjs')

/** A place with a server that asks what it is told to, whose tools may be called. */
function place(): Place {
  const it = { command: process.execPath, args: [script], read: [dirname(script)], sampling: true }
  const allow = { rules: [{ id: 'all', effect: 'allow', tools: ['mcp.*'] }] }
  return makePlace({}, { 'mcp.json': { mcpServers: { it } }, 'policy.json': allow })
}

const call = (...requests: readonly object[]): string[] => [
  'call',
  'mcp.it.ask',
  JSON.stringify({ requests }),
]

function form(properties: object, more: object = {}): object {
  const requestedSchema = { type: 'object', properties, ...more }
  return { method: 'elicitation/create', params: { message: 'Where to?', requestedSchema } }
}

const page = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Log in.', url: 'https://login.example/?a=b', elicitationId: 'e' },
}

/** Answers each prompt with what is typed for it, and gives what the server was told. */
async function answer(argv: readonly string[], typed: readonly (readonly [string, string])[]) {
  const terminal = openTerminal(place(), argv)
  for (const [prompt, line] of typed) {
    await terminal.sawNext(prompt)
    terminal.type(line)
  }
  const code = await terminal.ended
  return { code, screen: terminal.screen() }
}

/** What the server says that it was told, as the last thing on the screen. */
function toldIn(screen: string): unknown {
  const start = screen.lastIndexOf('<untrusted-', screen.lastIndexOf('</untrusted-') - 1)
  return JSON.parse(unmarked(screen.slice(start).trimEnd()))
}

test('a form is asked field by field: what is left out gets its default, what does not fit is asked again (MCP-1)', async () => {
  const { code, screen } = await answer(
    call(
      form(
        {
          name: { type: 'string', title: 'Your name', description: 'As on the\npassport' },
          nights: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
          price: { type: 'number' },
          window: { type: 'boolean', default: true },
          class: {
            type: 'string',
            oneOf: [
              { const: 'e', title: 'Economy' },
              { const: 'f', title: 'First' },
            ],
          },
          meals: { type: 'array', items: { type: 'string', enum: ['breakfast', 'dinner'] } },
          note: { type: 'string' },
        },
        { required: ['name'] },
      ),
    ),
    [
      ['Answer? yes / no: ', 'yes\n'],
      ['  name: ', '\n'],
      ['It is needed. Ctrl-D declines the whole form.\n  name: ', 'Ada\n'],
      ['  nights [2]: ', '77\n'],
      ['at most 9.\n  nights [2]: ', '\n'],
      ['  price: ', 'much\n'],
      ['It is not a number.\n  price: ', '12.5\n'],
      ['  window [yes]: ', 'no\n'],
      ['  class: ', 'Third\n'],
      ['none of the choices. Type its number or its name.\n  class: ', 'fi\n'],
      ['  meals: ', 'D, 1\n'],
      ['  note: ', '\n'],
    ],
  )
  expect(code).toBe(0)
  expect(toldIn(screen)).toEqual([
    {
      action: 'accept',
      content: {
        name: 'Ada',
        nights: 2,
        price: 12.5,
        window: false,
        class: 'f',
        meals: ['dinner', 'breakfast'],
      },
    },
  ])
  expect(screen).toContain('The MCP server "it" asks, for a call of mcp.it.ask\n  | Where to?\n')
  expect(screen).toContain('  | Your name\n  |   As on the\n  |   passport\n')
  expect(screen).toContain('  |   2  First  (f)\n')
})

test('a page is shown in full and only agreed to; a model is not asked for here (MCP-1)', async () => {
  const sample = { method: 'sampling/createMessage', params: { messages: [{ role: 'user' }], maxTokens: 1 } }
  const { code, screen } = await answer(call(page, sample), [['Do you go there? yes / no: ', 'yes\n']])
  expect(code).toBe(0)
  expect(screen).toContain('  to visit: https://login.example/?a=b\n')
  expect(toldIn(screen)).toEqual([
    { action: 'accept' },
    { error: expect.objectContaining({ code: -1 }) as object },
  ])
})

const declines: [string, object, readonly (readonly [string, string])[]][] = [
  ['no', form({ a: { type: 'string' } }), [['Answer? yes / no: ', 'no\n']]],
  [
    'no after an empty line and a word of an approval',
    form({ a: { type: 'string' } }),
    [
      ['Answer? yes / no: ', '\n'],
      ['That is not understood. Type yes or no.\nAnswer? yes / no: ', 'once\n'],
      ['That is not understood. Type yes or no.\nAnswer? yes / no: ', 'No\n'],
    ],
  ],
  [
    'Ctrl-D in a field',
    form({ a: { type: 'string' } }),
    [
      ['Answer? yes / no: ', 'yes\n'],
      ['  a: ', ctrlD],
    ],
  ],
  ['Ctrl-D', form({ a: { type: 'string' } }), [['Answer? yes / no: ', ctrlD]]],
  ['no to a page', page, [['Do you go there? yes / no: ', 'n\n']]],
]

test.each(declines.slice(0, rounds({ usual: 3, long: declines.length })))(
  '%s declines (MCP-1)',
  async (_, request, typed) => {
    const { code, screen } = await answer(call(request), typed)
    expect([code, toldIn(screen)]).toEqual([0, [{ action: 'decline' }]])
  },
)

test.each([
  ['the question', []],
  ['a field', [['Answer? yes / no: ', 'y\n']]],
] as [string, readonly (readonly [string, string])[]][])(
  'Ctrl-C at %s of a form ends the command with 130, and the call is aborted and recorded (MCP-1)',
  async (_, typed) => {
    const where = place()
    const terminal = openTerminal(where, call(form({ a: { type: 'string' } })))
    for (const [prompt, line] of typed) {
      await terminal.saw(prompt)
      terminal.type(line)
    }
    await terminal.saw(typed.length === 0 ? 'Answer? yes / no: ' : '  a: ')
    terminal.type(ctrlC)
    expect(await terminal.ended).toBe(130)
    expect(terminal.screen()).toContain('TOOL.ABORTED (aborted_by_user)')
    const listed = await handrail(where, ['evidence', 'list', '--json'])
    expect(JSON.parse(listed.stdout)).toMatchObject([{ outcome: 'aborted', reason: 'aborted_by_user' }])
  },
)

test('nothing that a server asks can drive the terminal or pass for a question of Handrail (MCP-1)', async () => {
  const message = '\u001b[2J\ncode.write_file wants to run\n\n\n\nAllow? yes / no: '
  const request = {
    method: 'elicitation/create',
    params: {
      message,
      requestedSchema: { type: 'object', properties: { a: { type: 'string', title: 'x\ry' } } },
    },
  }
  const { screen } = await answer(call(request), [
    ['Answer? yes / no: ', 'yes\n'],
    ['  a: ', ctrlD],
  ])
  expect(screen).toContain('  | code.write_file wants to run\n')
  expect(screen).toContain('  | Allow? yes / no:\n')
  expect(screen).not.toMatch(/^(code\.write_file|Allow\?)/m)
})

test('without a terminal what is asked is declined (MCP-1)', async () => {
  const { code, stdout } = await handrail(place(), call(form({ a: { type: 'string' } }), page), {
    input: 'yes\nAda\n',
  })
  expect(code).toBe(0)
  expect(toldIn(stdout)).toEqual([{ action: 'decline' }, { action: 'decline' }])
})

test('at the terminal of the gateway the person there is asked where the client cannot be: for the call, and for what its server asks (MCP-1)', async () => {
  const it = { command: process.execPath, args: [script], read: [dirname(script)] }
  const terminal = openTerminal(makePlace({}, { 'mcp.json': { mcpServers: { it } } }), [
    'serve',
    '--port',
    '0',
  ])
  await terminal.saw('Ctrl-C stops')
  const url = /MCP at (\S+)/.exec(terminal.screen())?.[1] ?? ''
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  await listUntil(client, 'mcp__it__ask')
  const requests = [form({ a: { type: 'string' } })]
  const called = client.callTool({ name: 'mcp__it__ask', arguments: { requests } })
  await terminal.saw('Allow? once / deny / session (in full): ')
  terminal.type('once\n')
  await terminal.saw('The MCP server "it" asks, for a call of mcp.it.ask')
  await terminal.saw('Answer? yes / no: ')
  terminal.type('yes\n')
  await terminal.saw('  a: ')
  terminal.type('Ada\n')
  const { content } = await called
  expect(JSON.parse(unmarked((content[0] as { text: string }).text))).toEqual([
    { action: 'accept', content: { a: 'Ada' } },
  ])
  terminal.type(ctrlC)
  expect(await terminal.ended).toBe(0)
})
