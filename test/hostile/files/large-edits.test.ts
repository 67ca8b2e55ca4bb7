import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools } from 'handrail'
import { expect, test } from 'vitest'
import { atEnd, keepOpen } from '../../support/at-end.ts'
import { makeFolder, openRuntime } from '../../support/project.ts'

const mebibyte = 1024 * 1024

/** A session whose person would say no, and what they were asked. */
const at = keepOpen(async () => {
  const project = makeFolder({
    'many.txt': `${'a'.repeat(mebibyte)}\n`,
    'few.txt': 'aaaa',
    'large.txt': `${'line\n'.repeat(mebibyte)}`,
  })
  const asked: string[] = []
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    store: 'memory',
    approve: async ({ preview }) => {
      asked.push(preview?.title ?? '')
      return { decision: 'deny' }
    },
  })
  atEnd(() => runtime.close())
  return { project, asked, session: runtime.session() }
})

/** Sentences about what would take long or become too large, and the input that asks for it. */
const refused: [string, object][] = [
  [
    'makes more of a file than it may hold',
    { path: 'many.txt', edits: [{ old: 'a', new: 'b'.repeat(300), replace_all: true }] },
  ],
  [
    'replaces in more places than are replaced',
    { path: 'many.txt', edits: [{ old: 'a', new: 'b', replace_all: true }] },
  ],
  [
    'grows with each of its edits',
    {
      path: 'few.txt',
      edits: Array.from({ length: 9 }, () => ({ old: 'a', new: 'aa'.repeat(50), replace_all: true })),
    },
  ],
  [
    'looks through a large file again and again',
    {
      path: 'large.txt',
      edits: Array.from({ length: 60 }, (_, i) => ({ old: `line ${i}\n`, new: 'new\n' })),
    },
  ],
  [
    'takes a large file apart into lines',
    { path: 'large.txt', unified_diff: '--- a/large.txt\n+++ b/large.txt\n@@ -1 +1 @@\n-line\n+new\n' },
  ],
]

test.each(refused)(
  'an edit that %s is refused before a person is asked (FILE-6, CALL-1)',
  async (_what, input) => {
    const { session, project, asked } = at()
    const before = readFileSync(join(project, 'many.txt'))
    const result = await session.call('code.edit_file', input)
    expect(result.error).toMatchObject({ code: 'TOOL.FAILED', reason: 'file_too_large' })
    expect(asked).toEqual([])
    expect(readFileSync(join(project, 'many.txt')).equals(before)).toBe(true)
  },
)
