import {
  codeTools,
  defineTool,
  resultText,
  ToolFailure,
  toolOutput,
  type ApprovalRequest,
  type ToolResult,
} from 'handrail'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime } from '../../support/project.ts'

const bidi = '\u202e'
const hidden = `a\u001b[31mb\u0007c${bidi}d\u200be\u{e0041}f\rg`
/** Any of them in a text. */
const raw =
  // oxlint-disable-next-line no-control-regex -- these are the very characters that must not be there
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/u

const evil = { forged: 'x.txt\nfake.txt', turned: `x${bidi}txt.exe`, plain: 'ordinary name ü日本👍🏽.txt' }

/** A runtime over a project of files with such names and contents, whose person says yes and shows what they were asked. */
async function open() {
  const asked: ApprovalRequest[] = []
  const runtime = await openRuntime({
    project: makeFolder({
      [evil.forged]: 'word\n',
      [evil.turned]: `word ${hidden} end\n`,
      [evil.plain]: 'word\n',
    }),
    sandbox: 'host',
    tools: [codeTools()],
    approve: async (request) => {
      asked.push(request)
      return { decision: 'allow_once' }
    },
  })
  return { asked, runtime, session: runtime.session() }
}

test('a name in a list is one line, with nothing in it hidden, and JSON reads it back; data is exact (SR-21, RD-08)', async () => {
  const { session } = await open()
  const calls: [string, object, (data: never) => string[]][] = [
    ['code.list_dir', {}, (data: { entries: { path: string }[] }) => data.entries.map(({ path }) => path)],
    ['code.glob', { pattern: '*' }, (data: { files: string[] }) => data.files],
    [
      'code.search',
      { query: 'word', mode: 'files' },
      (data: { hits: { path: string }[] }) => data.hits.map(({ path }) => path),
    ],
    [
      'code.search',
      { query: 'word', mode: 'count' },
      (data: { hits: { path: string }[] }) => data.hits.map(({ path }) => path),
    ],
    [
      'code.search',
      { query: 'word' },
      (data: { hits: { path: string }[] }) => data.hits.map(({ path }) => path),
    ],
  ]
  for (const [tool, input, namesOf] of calls) {
    const result = await session.call(tool, input)
    expect(namesOf(result.data as never).sort(), tool).toEqual(Object.values(evil).sort())
    const lines = resultText(result).split('\n')
    expect(lines.join('\n'), tool).not.toMatch(raw)
    expect(
      lines.some((line) => line.startsWith('fake.txt')),
      tool,
    ).toBe(false)
    const quoted = lines.flatMap((line) => /^("(?:[^"\\]|\\.)*")/.exec(line)?.[1] ?? [])
    expect(quoted.map((name) => JSON.parse(name) as string).sort(), tool).toEqual(
      [evil.forged, evil.turned].sort(),
    )
    expect(
      lines.some((line) => line.startsWith(evil.plain)),
      tool,
    ).toBe(true)
  }
})

test('what a search shows of a line hides nothing; what a file is read for is exact (RD-09, FILE-1)', async () => {
  const { session } = await open()
  const found = await session.call('code.search', { query: 'word', path: evil.turned })
  expect(resultText(found)).toContain('word a␛[31mb␇c<U+202E>d<U+200B>e<U+E0041>f␍g end')
  expect((found.data as { hits: { text: string }[] }).hits[0]?.text).toContain(hidden)
  const read = await session.call('code.read_file', { path: evil.turned })
  expect((read.data as { content: string }).content).toContain(hidden)
  expect(resultText(read)).toContain(hidden)
})

test('what a program prints is shown without the moves and colours of a terminal; data is exact (RD-08)', async () => {
  const { session } = await open()
  const script = `process.stdout.write(${JSON.stringify(`\u001b]0;title\u0007${hidden} end\u001b[2J\n`)}); process.stderr.write(${JSON.stringify(bidi)}); process.exitCode = 3`
  const result = await session.call('code.run_command', { argv: [process.execPath, '-e', script] })
  expect(resultText(result)).not.toMatch(raw)
  expect(resultText(result)).toContain('ab␇c<U+202E>d<U+200B>e<U+E0041>f␍g end')
  expect(result.error?.message).toContain('<U+202E>')
  expect(JSON.stringify(result.data)).toContain(String.raw`\u001b[31m`)
})

test('a person is shown nothing hidden: title, input, scope, preview, notes (PERM-6, A2)', async () => {
  const asked: ApprovalRequest[] = []
  const tool = defineTool({
    name: 'demo.plan',
    description: 'Plans.',
    permission: 'write',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    plan: ({ text = '' }) => ({
      operations: [],
      scope: `scope ${text}`,
      preview: { kind: 'text', title: `title ${text}\nsecond`, body: `body ${text}\nsecond` },
    }),
    run: () => 'done',
  })
  const plain = defineTool({
    name: 'demo.plain',
    description: 'Takes.',
    permission: 'write',
    rawInput: { type: 'object' },
    run: () => 1,
  })
  const runtime = await openRuntime({
    tools: [tool, plain],
    hooks: [{ name: 'h', before: () => ({ decision: 'allow', notes: [`note ${hidden}`] }) }],
    approve: async (request) => {
      asked.push(request)
      return { decision: 'allow_once' }
    },
  })
  const session = runtime.session()
  for (const name of ['demo.plan', 'demo.plain']) await session.call(name, { text: hidden })
  expect(asked).toHaveLength(2)
  for (const { preview, inputSummary, scope, hookNotes } of asked)
    for (const text of [preview.body, inputSummary, ...hookNotes]) {
      expect(text + preview.title + scope).not.toMatch(raw)
      expect(text).toContain('<U+202E>')
    }
  expect(asked[0]?.scope).toContain('<U+202E>')
  expect(asked[0]?.preview).toMatchObject({
    title: expect.stringMatching(/␊second$/),
    body: expect.stringMatching(/\nsecond$/),
  })
  expect((await session.preflight('demo.plan', { text: hidden })).preview?.title).not.toMatch(raw)
})

test('nothing is hidden in a summary or in what an error says; what a tool gives as its data is its own (RD-08, OUT-1)', async () => {
  const give = (name: string, run: () => unknown) =>
    defineTool({ name, description: 'Gives.', permission: 'readonly', run: () => run() as never })
  const session = (
    await openRuntime({
      tools: [
        give('demo.sum', () =>
          toolOutput({ content: hidden, data: hidden, summary: `sum ${hidden}\nsecond` }),
        ),
        give('demo.fail', () => {
          throw new ToolFailure({ reason: 'own', message: `broke ${hidden}\nsecond` })
        }),
      ],
    })
  ).session()
  const [sum, failed] = (await Promise.all(['demo.sum', 'demo.fail'].map((name) => session.call(name)))) as [
    ToolResult,
    ToolResult,
  ]
  expect(sum.summary).toMatch(/^sum a␛[^\n]*␍g␊second$/)
  expect([sum.data, resultText(sum)]).toEqual([hidden, hidden])
  expect(failed.error?.message).not.toMatch(raw)
  expect(failed.error?.message).toMatch(/^broke a␛[^\n]*\nsecond$/)
})

test('a message names what lies in the project without the path of the project (RD-10)', async () => {
  const { runtime, session } = await open()
  const calls: [string, object][] = [
    ['code.read_file', { path: '.' }],
    ['code.read_file', { path: `${runtime.project}/none.txt` }],
    ['code.run_command', { argv: ['./none'] }],
    ['code.write_file', { path: '/nowhere/a.txt', content: '' }],
    ['code.read_file', { path: '/etc/hostname' }],
  ]
  for (const [tool, input] of calls) {
    const { error } = await session.call(tool, input)
    expect(error?.message, `${tool} ${JSON.stringify(input)}`).not.toContain(runtime.project)
    expect((await session.preflight(tool, input)).error?.message ?? '').not.toContain(runtime.project)
  }
})

test('a message keeps what only looks like the path of the project (RD-10)', async () => {
  const project = makeFolder({})
  const texts = [
    [`${project}-old/a.txt`, `${project}-old/a.txt`],
    [`/srv${project}/a.txt`, `/srv${project}/a.txt`],
    [`file://${project}/a.txt`, `file://${project}/a.txt`],
    [`at "${project}/", in ${project}.`, 'at "the project", in the project.'],
    [`${project}/a b.txt, ${project}/[id].ts`, 'a b.txt, [id].ts'],
  ]
  const fails = defineTool({
    name: 'demo.fail',
    description: 'Fails.',
    permission: 'readonly',
    rawInput: { type: 'object' },
    run: () => {
      throw new ToolFailure({ reason: 'own', message: texts.map(([said]) => said).join(' | ') })
    },
  })
  const session = (await openRuntime({ project, tools: [fails] })).session()
  const { error } = await session.call('demo.fail')
  expect(error?.message).toBe(texts.map(([, shown]) => shown).join(' | '))
})

test('where nothing is found, the result says that ignore files counted (SR-15)', async () => {
  const runtime = await openRuntime({
    project: makeFolder({ '.ignore': '*\n', 'src/a.txt': 'word\n' }),
    tools: [codeTools()],
  })
  const session = runtime.session()
  for (const [tool, input] of [
    ['code.search', { query: 'word' }],
    ['code.glob', { pattern: '*.txt' }],
  ] as const)
    expect(resultText(await session.call(tool, input))).toContain('ignore files such as .gitignore')
})

const foreign = {
  emoji: 'family 👨‍👩‍👧‍👦, flag 🏳️‍🌈, heart ❤️, keycap 1️⃣',
  arabic: 'می‌خواهم \u200f(مرحبا)\u200f',
  hebrew: 'שלום \u2067word\u2069',
  spaces: 'a\u00a0b\u202fc\u2009d\u3000e',
  marks: 'co\u00adop\u200berate\u2060 \ufeffend',
  terminal: '\u001b[31mred\u001b[0m \u0007',
}

test('what a file is read for can be copied into an edit, whatever is in it (RD-09, FILE-1, FILE-6)', async () => {
  const project = makeFolder({
    'a.txt': `\ufeff${Object.values(foreign).join('\r\n')}\r\n`,
    [`${foreign.emoji}.txt`]: 'x\n',
  })
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: async () => ({ decision: 'allow_once' }),
  })
  const session = runtime.session()
  const read = resultText(await session.call('code.read_file', { path: 'a.txt' }))
  const lines = read.split('\n').flatMap((line) => /^\d+\t(.*)$/s.exec(line)?.[1] ?? [])
  expect(lines).toEqual(Object.values(foreign))
  for (const line of lines) {
    const edit = { path: 'a.txt', edits: [{ old: line, new: `${line}!` }] }
    expect((await session.call('code.edit_file', edit)).error).toBeUndefined()
  }
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe(
    `\ufeff${Object.values(foreign)
      .map((line) => `${line}!`)
      .join('\r\n')}\r\n`,
  )
})

test('characters that scripts and emoji need stay in a search, a list and a question (RD-09)', async () => {
  const { emoji } = foreign
  const project = makeFolder({ [`${emoji}.txt`]: `${emoji} می‌خواهم a\u00a0b\n` })
  const asked: ApprovalRequest[] = []
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: async (request) => {
      asked.push(request)
      return { decision: 'deny' }
    },
  })
  const session = runtime.session()
  expect(resultText(await session.call('code.search', { query: 'family' }))).toContain(
    `${emoji}.txt\n1:${emoji} می‌خواهم a\u00a0b`,
  )
  expect(resultText(await session.call('code.list_dir'))).toContain(`${emoji}.txt\t`)
  await session.call('code.write_file', { path: `${emoji}.txt`, content: `${emoji}\n`, overwrite: true })
  expect(asked[0]?.preview.body).toContain(`+${emoji}`)
})

test('an edit with the codes that a search shows is told to use the characters themselves (RD-09, FILE-6)', async () => {
  const { session } = await open()
  const found = resultText(await session.call('code.search', { query: 'word', path: evil.turned }))
  const old = /^1:(.*)$/m.exec(found)?.[1] ?? ''
  const refused = await session.call('code.edit_file', { path: evil.turned, edits: [{ old, new: '' }] })
  expect(refused.error?.message).toContain('the file has the characters themselves')
  const quoted = /("word (?:[^"\\]|\\.)*")/.exec(refused.error?.message ?? '')?.[1] ?? '""'
  const edit = { path: evil.turned, edits: [{ old: JSON.parse(quoted) as string, new: 'empty' }] }
  expect((await session.call('code.edit_file', edit)).error).toBeUndefined()
})
