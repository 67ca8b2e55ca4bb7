import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, declarativeTools } from 'handrail'
import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

const path = { type: 'string', minLength: 1, maxLength: 4_096 }

const copy = {
  name: 'notes.copy',
  description: 'Copies a note.',
  input_schema: {
    type: 'object',
    properties: { from: path, to: path },
    required: ['from', 'to'],
    additionalProperties: false,
  },
  parts: {
    note: { tool: 'code.read_file', input: { path: { from: 'input', at: '/from' } } },
    copy: {
      tool: 'code.write_file',
      input: {
        path: { from: 'input', at: '/to' },
        content: { from: 'note', at: '/content' },
      },
    },
  },
}

test('a file makes one tool of built-in ones and of other files (NEXT-1, DECL-1)', async () => {
  const dir = makeFolder({
    'a.json': JSON.stringify({
      name: 'notes.twice',
      description: 'Copies a note twice.',
      parts: {
        one: { tool: 'notes.copy', input: { literal: { from: 'a.txt', to: 'b.txt' } } },
        two: { tool: 'notes.copy', input: { literal: { from: 'a.txt', to: 'c.txt' } } },
      },
    }),
    'copy.json': JSON.stringify(copy),
  })
  const person = personSaying('allow_once')
  const project = makeFolder({ 'a.txt': 'hello\n' })
  const tools = [codeTools(), declarativeTools({ dir, tools: [codeTools()] })]
  const runtime = await openRuntime({ project, tools, approve: person.approve })
  const { definition } = runtime.registry.find('notes.twice') ?? {}
  expect(definition).toMatchObject({ permission: 'write', sideEffect: 'filesystem' })
  expect(runtime.registry.find('notes.copy')?.source).toBe('declarative')
  expect((await runtime.session().call('notes.twice')).error).toBeUndefined()
  expect(readFileSync(join(project, 'c.txt'), 'utf8')).toBe('hello\n')
})

test('handrail tools check names every issue of a composition, and handrail call runs one (NEXT-1, DECL-1)', async () => {
  const place = makePlace({ 'a.txt': 'hello\n' })
  const tools = join(place.home, 'tools')
  mkdirSync(tools, { recursive: true })
  const parts = {
    one: { tool: 'code.read_fle', input: { path: 'a.txt' } },
  }
  writeFileSync(join(tools, 'bad.json'), JSON.stringify({ ...copy, name: 'notes.bad', parts }))
  const unfit = {
    ...copy,
    name: 'notes.unfit',
    parts: { one: { tool: 'code.read_file', input: { path: 1 } } },
  }
  writeFileSync(join(tools, 'unfit.json'), JSON.stringify(unfit))
  writeFileSync(
    join(tools, 'both.json'),
    JSON.stringify({
      name: 'notes.both',
      description: 'Lists and reads.',
      parts: {
        list: { tool: 'code.list_dir', input: { path: '.' } },
        read: { tool: 'code.read_file', input: { path: 'a.txt' } },
      },
    }),
  )
  const checked = await handrail(place, ['tools', 'check'])
  expect(checked.code).toBe(2)
  expect(checked.stdout).toContain('/parts/one/tool: There is no built-in tool "code.read_fle"')
  expect(checked.stdout).toContain('/parts/one/input/path')
  expect(checked.stdout).toContain('notes.both, readonly, no issue')
  const called = await handrail(place, ['call', 'notes.both', '{}'])
  expect(called.stdout).toContain('hello')
  expect(called.code).toBe(0)
})
