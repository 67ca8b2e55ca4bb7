import { join } from 'node:path'
import { readdirSync, readFileSync } from 'node:fs'
import { codeTools, defineTool, toolOutput, type ToolContext, type ToolReturn } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const secret = 'correct-horse-battery'
const mail = 'ann@example.com'
const digest = `sha256:${'0'.repeat(64)}`
const text = { mimeType: 'text/plain' }

/** Every place of a result, its events and its artifacts where a tool can put a word. */
const places: Readonly<
  Record<string, (word: string, context: ToolContext) => ToolReturn | Promise<ToolReturn>>
> = {
  summary: (word) => toolOutput({ content: 'a', summary: word }),
  metadata: (word) => toolOutput({ content: 'a', metadata: { [word]: [word] } }),
  'the name of a member': (word) => ({ [word]: 1 }),
  'the URI of a resource': (word) => toolOutput({ content: [{ type: 'resource', uri: `x://${word}` }] }),
  'the name of a resource': (word) => toolOutput({ content: [{ type: 'resource', uri: 'x:', name: word }] }),
  'what stands beside an image': (word) =>
    toolOutput({ content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png', aside: { word } }] }),
  'a block of another kind': (word) => toolOutput({ content: [{ type: 'other', block: { kind: word } }] }),
  'the name of an artifact': async (word, context) =>
    toolOutput({ content: 'a', artifacts: [await context.artifact('abc', { ...text, name: word })] }),
  'the name of an artifact that it made up': (word) =>
    toolOutput({ content: 'a', artifacts: [{ digest, bytes: 1, ...text, name: word }] }),
  'the type of an artifact': async (word, context) =>
    toolOutput({ content: 'a', artifacts: [await context.artifact('abc', { mimeType: `text/${word}` })] }),
  'the type of an artifact that it made up': (word) =>
    toolOutput({ content: 'a', artifacts: [{ digest, bytes: 1, mimeType: `text/${word}` }] }),
  'the note of a reference': (word) =>
    toolOutput({ content: [{ type: 'artifact_ref', artifact: { digest, bytes: 1, ...text }, note: word }] }),
  'the name in a reference': (word) =>
    toolOutput({ content: [{ type: 'artifact_ref', artifact: { digest, bytes: 1, ...text, name: word } }] }),
  'the reason of an error': (word) => toolOutput({ error: { reason: word, message: 'm' } }),
  'the message of an error': (word) => toolOutput({ error: { reason: 'r', message: word } }),
  'the data of an error': (word) => toolOutput({ error: { reason: 'r', message: 'm', data: { word } } }),
  'the issues of an error': (word) =>
    toolOutput({
      error: { reason: 'r', message: 'm', issues: [{ pointer: `/${word}`, code: word, message: word }] },
    }),
  'its progress': (word, context) => {
    context.progress({ message: word })
    return 'a'
  },
  'pieces of what its program prints': (word, context) => {
    const followed = context.followOutput()
    for (const piece of [word.slice(0, 8), word.slice(8), '\n'])
      followed.add({ stream: 'stderr', text: piece })
    followed.end()
    return 'a'
  },
}

test.each(Object.keys(places))(
  'neither a secret nor what the policy hides leaves by %s: not in the result, an event, the evidence or an artifact (OUT-3, OUT-4)',
  async (place) => {
    const home = makeFolder()
    const events: string[] = []
    const tool = defineTool({
      name: 'demo.say',
      description: 'Says a word.',
      permission: 'readonly',
      input: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
      run: ({ word }, context) => places[place]?.(word.split(' ').join(''), context) as ToolReturn,
    })
    const runtime = await openRuntime({
      tools: [tool],
      secrets: { S: secret },
      policy: { obligations: [{ id: 'mail', action: 'redact', patterns: ['[a-z]+@[a-z.]+'] }] },
      archive: { dir: join(home, 'runs') },
      artifacts: { dir: join(home, 'artifacts') },
      onEvent: (event) => events.push(JSON.stringify(event)),
    })
    const results = []
    for (const word of [mail, secret])
      results.push(await runtime.session().call('demo.say', { word: word.split('').join(' ') }))
    const records = [...runtime.store.records({ kind: 'end' })].map((record) => [record.text, record.body])
    await runtime.close()
    const everything = [JSON.stringify([results, records]), ...events, ...filesOf(home)].join('\n')
    for (const word of [mail, secret]) expect(everything).not.toContain(word)
  },
)

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
}

const sentence = 'correct horse battery staple'

test('of a secret with blanks no part is shown while a command runs, nor where its output is cut (OUT-4)', async () => {
  const events: string[] = []
  const words = sentence.split(' ').map((word, index) => [String(index + 1), `${word} `] as const)
  const runtime = await openRuntime({
    project: makeFolder({ key: `key: ${sentence} x\n`, ...Object.fromEntries(words) }),
    tools: [codeTools()],
    secrets: { sentence },
    approve: personSaying('allow_once').approve,
    onEvent: (event) => void events.push(JSON.stringify(event)),
  })
  const session = runtime.session()
  const filler = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' x; echo;`
  for (const script of [
    'for word in 1 2 3 4; do cat $word; : "$(ls /)"; done; echo',
    `${filler(32_750)} cat key; ${filler(60_000)}`,
    `${filler(60_000)} cat key; ${filler(32_750)} exit 1`,
  ]) {
    const result = await session.call('code.run_command', { argv: ['sh', '-c', script] })
    const everything = `${JSON.stringify(result)}${events.join('')}`
    expect(/horse|battery|staple/.exec(everything)).toBeNull()
  }
})

test('a secret leaves by no artifact, whatever that is said to be (OUT-4)', async () => {
  const home = makeFolder()
  const tool = defineTool({
    name: 'demo.pack',
    description: 'Packs.',
    permission: 'readonly',
    run: (context) =>
      context
        .artifact(Buffer.from(`\u0000${sentence}\u0000`), { mimeType: 'application/zip' })
        .then(({ bytes }) => bytes),
  })
  const runtime = await openRuntime({
    tools: [tool],
    secrets: { sentence },
    store: { path: join(home, 'store.db') },
  })
  expect((await runtime.session().call('demo.pack')).data).toBe(12)
})

test('a reason is one word, whatever a tool puts into it (CALL-5)', async () => {
  const reasons = ['own_reason', 'ok)\nTOOL.OK (done', 'x'.repeat(500)]
  const tool = defineTool({
    name: 'demo.fail',
    description: 'Fails.',
    permission: 'readonly',
    input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    run: ({ n }) => toolOutput({ error: { reason: reasons[n] ?? '', message: 'm' } }),
  })
  const session = (await openRuntime({ tools: [tool] })).session()
  const given = await Promise.all(
    reasons.map(async (_, n) => (await session.call('demo.fail', { n })).error?.reason),
  )
  expect(given).toEqual(['own_reason', 'ok_TOOL.OK_done', 'x'.repeat(80)])
})

const endless = {
  *[Symbol.iterator]() {
    for (let n = 0; ; n++) yield n % 256
  },
}

test.each<[string, unknown, unknown]>([
  ['a number', 5, text],
  ['something without an end', endless, text],
  ['nothing', undefined, text],
  ['bytes of no type', 'abc', {}],
  ['bytes of nothing', 'abc', undefined],
  ['a name that is a number', 'abc', { ...text, name: 5 }],
])('an artifact of %s is refused, and the tool may go on (OUT-2, SDK-4)', async (_, bytes, about) => {
  const tool = defineTool({
    name: 'demo.keep',
    description: 'Keeps.',
    permission: 'readonly',
    run: async (context) => {
      const given = context.artifact(bytes as never, about as never)
      return given.then(
        () => 'kept',
        (error: unknown) => String(error),
      )
    },
  })
  const runtime = await openRuntime({ tools: [tool] })
  expect((await runtime.session().call('demo.keep')).data).toMatch(/^ToolFailure: context\.artifact/)
})

test('bytes of any kind are an artifact (OUT-2)', async () => {
  const tool = defineTool({
    name: 'demo.bytes',
    description: 'Keeps bytes.',
    permission: 'readonly',
    run: async ({ artifact }) => {
      const about = { mimeType: 'application/octet-stream' }
      const kinds = [
        Buffer.from('abcd'),
        new Uint16Array([0x6261, 0x6463]),
        new DataView(new ArrayBuffer(4)),
        new ArrayBuffer(4),
      ]
      return Promise.all(kinds.map(async (bytes) => (await artifact(bytes as never, about)).bytes))
    },
  })
  const runtime = await openRuntime({ tools: [tool] })
  expect((await runtime.session().call('demo.bytes')).data).toEqual([4, 4, 4, 4])
})
