import { codeTools, resultText, type Session } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime } from '../support/project.ts'

const many = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`d/f${index}.txt`, 'word\n']))

async function open(): Promise<Session> {
  const runtime = await openRuntime({
    project: makeFolder({ ...many, 'long.txt': 'line\n'.repeat(1_500) }),
    sandbox: 'host',
    tools: [codeTools({ shell: true })],
    approve: async () => ({ decision: 'allow_once' }),
  })
  return runtime.session()
}

/** Fields that only the canonical input of a tool has. */
function hiddenFields(session: Session, name: string): string[] {
  const compatible = session.tools({ presentation: 'compatible' }).find((tool) => tool.name === name)
  const canonical = session.tools().find(({ tool }) => tool === compatible?.tool)
  const own = compatible?.inputSchema.properties ?? {}
  return Object.keys(canonical?.inputSchema.properties ?? {}).filter((field) => !(field in own))
}

/** Words that are an ordinary word too only count where they are told to be set. */
const advised = (field: string): RegExp =>
  field.includes('_') ? new RegExp(String.raw`\b${field}\b`) : new RegExp(`(?:raise|set) ${field}\\b`, 'i')

test('a compatible presentation tells of no field that it refuses (NAME-6)', async () => {
  const session = await open()
  const compatible = session.tools({ presentation: 'compatible' }).filter(({ name, tool }) => name !== tool)
  expect(compatible.length).toBeGreaterThan(8)
  for (const { name, description } of compatible)
    for (const field of hiddenFields(session, name)) expect(description, name).not.toMatch(advised(field))
})

test('the result of a compatible call advises no field that the presentation refuses (NAME-6)', async () => {
  const session = await open()
  const calls: [string, object, object | undefined][] = [
    ['Read', { file_path: 'long.txt' }, { file_path: 'long.txt', offset: 1_001 }],
    ['Grep', { pattern: 'word' }, { pattern: 'word', output_mode: 'files_with_matches', head_limit: 501 }],
    ['Glob', { pattern: '*.txt' }, { pattern: '*.txt', limit: 1_000 }],
    ['LS', { path: 'd' }, { path: 'd', limit: 1_000 }],
    ['Bash', { command: 'sleep 5', timeout: 1 }, undefined],
  ]
  for (const [name, input, more] of calls) {
    const result = await session.call(name, input, { presentation: 'compatible' })
    const said = `${resultText(result)} ${result.error?.message ?? ''}`
    expect(said).toMatch(/more|Not everything|did not end/i)
    for (const field of hiddenFields(session, name)) expect(said, name).not.toMatch(advised(field))
    if (more === undefined) continue
    const rest = await session.call(name, more, { presentation: 'compatible' })
    expect(rest.data, name).toMatchObject({ truncated: false })
  }
})
