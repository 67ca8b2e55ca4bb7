import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

/** As Jupyter writes one: one space of indentation, keys in order, a line break at the end, and values that a parser would rewrite. */
const jupyter = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\\n",
    "caf\\u00e9 and café"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "sum",
   "metadata": {
    "tags": ["keep"],
    "10": 1.0,
    "2": 1e3
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "3\\n"
     ]
    }
   ],
   "source": [
    "print(1 + 2)"
   ],
   "x_unknown": 12345678901234567890
  },
  {
   "cell_type": "raw",
   "id": "raw",
   "metadata": {},
   "source": "one \\"text\\" ]}"
  }
 ],
 "metadata": {
  "kernelspec": {
   "name": "python3"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`

async function sessionOver(files: Record<string, string>) {
  const project = makeFolder(files)
  const person = personSaying('allow_once')
  const runtime = await openRuntime({ project, tools: [codeTools()], approve: person.approve })
  const session = runtime.session()
  const edit = (input: Record<string, unknown>) =>
    session.call('code.edit_notebook', { path: 'a.ipynb', ...input })
  const read = () => readFileSync(join(project, 'a.ipynb'), 'utf8')
  return { project, session, person, edit, read }
}

test('a replaced source changes its lines and clears what it put out, and no other byte (FILE-11)', async () => {
  const { edit, read, person } = await sessionOver({ 'a.ipynb': jupyter })
  const result = await edit({ cell: 'sum', source: 'a = 1\nprint(a)\n' })
  expect(result.data).toMatchObject({ path: 'a.ipynb', created: false, unchanged: false })
  const expected = jupyter
    .replace('"print(1 + 2)"', '"a = 1\\n",\n    "print(a)\\n"')
    .replace('"execution_count": 7', '"execution_count": null')
    .replace(/"outputs": \[[\s\S]*?\n {3}\]/, '"outputs": []')
  expect(read()).toBe(expected)
  expect(person.asked[0]?.preview?.title).toBe('Change a.ipynb (+4 -11)')
  expect(person.asked[0]?.preview?.body).toContain('-    "print(1 + 2)"')
})

test('a source that is the same leaves outputs and every byte as they are (FILE-11)', async () => {
  const { edit, read } = await sessionOver({ 'a.ipynb': jupyter })
  expect((await edit({ cell: 1, source: 'print(1 + 2)' })).data).toMatchObject({ unchanged: true })
  expect(read()).toBe(jupyter)
})

test('a source keeps the form it has in the file: one text, or a list of lines (FILE-11)', async () => {
  const { edit, read } = await sessionOver({ 'a.ipynb': jupyter })
  await edit({ cell: 'raw', source: 'two\nlines $&' })
  expect(read()).toBe(jupyter.replace('one \\"text\\" ]}', 'two\\nlines $$&'))
  await edit({ cell: 'intro', source: '' })
  expect(JSON.parse(read())).toMatchObject({ cells: [{ source: [] }, {}, { source: 'two\nlines $&' }] })
})

test('a cell is inserted behind another or first, with an id from 4.5 on (FILE-11)', async () => {
  const { edit, read } = await sessionOver({ 'a.ipynb': jupyter })
  expect((await edit({ mode: 'insert', cell: 'intro', source: 'x = 1' })).ok).toBe(true)
  const [id] = /(?<="id": ")[0-9a-f]{8}(?=")/.exec(read()) ?? []
  const code = `{
   "cell_type": "code",
   "execution_count": null,
   "id": "${id}",
   "metadata": {},
   "outputs": [],
   "source": [
    "x = 1"
   ]
  },
  `
  const expected = jupyter.replace('{\n   "cell_type": "code"', `${code}{\n   "cell_type": "code"`)
  expect(read()).toBe(expected)
  await edit({ mode: 'insert', cell: -1, cell_type: 'markdown', source: 'first' })
  await edit({ mode: 'insert', cell: 'raw', cell_type: 'raw', source: 'last' })
  const { cells } = JSON.parse(read()) as { cells: { id: string; cell_type: string; source: unknown }[] }
  expect(cells.map(({ cell_type }) => cell_type)).toEqual([
    'markdown',
    'markdown',
    'code',
    'code',
    'raw',
    'raw',
  ])
  expect(cells.map(({ source }) => source).filter((_, index) => index % 5 === 0)).toEqual([
    ['first'],
    ['last'],
  ])
  expect(new Set(cells.map((cell) => cell.id)).size).toBe(6)
})

test('a notebook before 4.5 gets no ids, and one without cells its first (FILE-11)', async () => {
  const old = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}'
  const { edit, read } = await sessionOver({ 'a.ipynb': old })
  expect((await edit({ mode: 'insert', cell: -1, source: 'a' })).ok).toBe(true)
  expect(read()).toBe(
    old.replace(
      '[]',
      '[{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":["a"]}]',
    ),
  )
  await edit({ mode: 'insert', cell: 0, source: 'b' })
  await edit({ mode: 'delete', cell: 0 })
  expect(JSON.parse(read())).toMatchObject({ cells: [{ source: ['b'] }] })
  await edit({ mode: 'delete', cell: 'cell-0' })
  expect(read()).toBe(old)
})

test('a cell is deleted with its comma, wherever it stands (FILE-11)', async () => {
  for (const [cell, left] of [
    ['intro', ['sum', 'raw']],
    ['sum', ['intro', 'raw']],
    ['raw', ['intro', 'sum']],
  ] as const) {
    const { edit, read } = await sessionOver({ 'a.ipynb': jupyter })
    expect((await edit({ mode: 'delete', cell })).ok).toBe(true)
    const { cells } = JSON.parse(read()) as { cells: { id: string }[] }
    expect(cells.map(({ id }) => id)).toEqual(left)
    expect(read()).toContain(`[\n  {\n   "cell_type"`)
    expect(read()).toContain('\n  }\n ],\n "metadata": {')
  }
})

test('a cell of another type has the keys of that type (FILE-11)', async () => {
  const { edit, read } = await sessionOver({ 'a.ipynb': jupyter })
  await edit({ cell: 'sum', cell_type: 'markdown', source: 'text' })
  await edit({ cell: 'intro', cell_type: 'code', source: '# Title\ncafé and café' })
  const { cells } = JSON.parse(read()) as { cells: object[] }
  expect(Object.keys(cells[1] ?? {})).toEqual(['cell_type', 'id', 'metadata', 'source', 'x_unknown'])
  expect(cells[0]).toEqual({
    cell_type: 'code',
    execution_count: null,
    id: 'intro',
    metadata: {},
    outputs: [],
    source: ['# Title\n', 'café and café'],
  })
})

test('line ends, byte order mark, indentation and a missing last line break stay (FILE-11)', async () => {
  const windows = `\uFEFF${jupyter
    .trimEnd()
    .replaceAll('\n', '\r\n')
    .replaceAll(/^ +/gm, (space) => space + space)}`
  const { edit, read } = await sessionOver({ 'a.ipynb': windows })
  await edit({ cell: 'intro', source: 'a\nb' })
  const lines = '"a\\n",\r\n        "b"'
  expect(read()).toBe(windows.replace(/"# Title[\s\S]*?and café"/, lines.replaceAll('$', '$$$$')))
})

test('compatible input replaces, inserts first without a cell, and deletes (FILE-11)', async () => {
  const { session, read } = await sessionOver({ 'a.ipynb': jupyter })
  const edit = (input: object) =>
    session.call('NotebookEdit', { notebook_path: 'a.ipynb', ...input }, { presentation: 'compatible' })
  expect((await edit({ cell_id: 'sum', new_source: 'x' })).ok).toBe(true)
  expect((await edit({ edit_mode: 'insert', cell_type: 'markdown', new_source: 'top' })).ok).toBe(true)
  expect((await edit({ edit_mode: 'delete', cell_id: 'cell-1', new_source: '' })).ok).toBe(true)
  expect(JSON.parse(read())).toMatchObject({
    cells: [{ source: ['top'] }, { id: 'sum', source: ['x'], outputs: [] }, { id: 'raw' }],
  })
  expect((await edit({ new_source: 'x' })).error?.code).toBe('SCHEMA.VALIDATION_FAILED')
})

test('a file that changes while a person looks makes their yes stale (FILE-11)', async () => {
  const project = makeFolder({ 'a.ipynb': jupyter })
  const file = join(project, 'a.ipynb')
  const other = jupyter.replace('print', 'show')
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: async () => {
      writeFileSync(file, other)
      return { decision: 'allow_once' }
    },
  })
  const result = await runtime
    .session()
    .call('code.edit_notebook', { path: 'a.ipynb', cell: 'sum', source: '' })
  expect(result.error).toMatchObject({ reason: 'approval_stale' })
  expect(readFileSync(file, 'utf8')).toBe(other)
})

test('input that cannot be meant changes nothing and says why (FILE-11)', async () => {
  const { edit, read } = await sessionOver({
    'a.ipynb': jupyter,
    'a.txt': jupyter,
    'list.ipynb': '[]',
    'broken.ipynb': jupyter.slice(0, -9),
    'old.ipynb': '{"nbformat": 3, "worksheets": []}',
    'cells.ipynb': '{"nbformat": 4, "nbformat_minor": 5, "cells": [{"cell_type": "code", "source": [1]}]}',
    'twice.ipynb': jupyter.replace('"id": "raw"', '"id": "sum"'),
    'binary.ipynb': '\0\x01',
  })
  for (const [input, reason] of [
    [{ cell: 'nowhere', source: '' }, 'cell_not_found'],
    [{ cell: 3, source: '' }, 'cell_not_found'],
    [{ cell: -1, source: '' }, 'cell_not_found'],
    [{ cell: -2, mode: 'insert', source: '' }, 'cell_not_found'],
    [{ cell: 'sum' }, 'invalid_input'],
    [{ cell: 'sum', mode: 'insert' }, 'invalid_input'],
    [{ cell: 'sum', mode: 'delete', source: 'x' }, 'invalid_input'],
    [{ cell: 'sum', source: '\uD800' }, 'invalid_input'],
    [{ cell: '', source: '' }, 'invalid_input'],
    [{ cell: 1.5, source: '' }, 'invalid_input'],
    [{ cell: 'sum', source: '', cell_type: 'heading' }, 'invalid_input'],
    [{ source: '' }, 'invalid_input'],
    [{ path: 'a.txt', cell: 0, source: '' }, 'invalid_input'],
    [{ path: 'none.ipynb', cell: 0, source: '' }, 'file_not_found'],
    [{ path: 'list.ipynb', cell: 0, source: '' }, 'invalid_notebook'],
    [{ path: 'broken.ipynb', cell: 0, source: '' }, 'invalid_notebook'],
    [{ path: 'old.ipynb', cell: 0, source: '' }, 'invalid_notebook'],
    [{ path: 'cells.ipynb', cell: 0, source: '' }, 'invalid_notebook'],
    [{ path: 'twice.ipynb', cell: 'sum', source: '' }, 'ambiguous_edit'],
    [{ path: 'binary.ipynb', cell: 0, source: '' }, 'binary_file'],
    [{ path: '../out.ipynb', cell: 0, source: '' }, 'write_outside_allowed_roots'],
  ] as const) {
    const { error } = await edit(input)
    expect([input, error?.reason]).toEqual([input, reason])
  }
  expect(read()).toBe(jupyter)
})
