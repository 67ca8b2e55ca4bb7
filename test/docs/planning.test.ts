import { expect, test } from 'vitest'
import { handrail, makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test.each(['docs/planning.md', 'docs/agent-definitions.md'])(
  'the program of %s prints what it says (BI-4, AGENT-1)',
  async (page) => {
    const [block] = findBlocks(readPage(page)).filter(({ language }) => language === 'ts')
    const place = makePlace()
    const code = (block?.code ?? '').replace(
      "store: 'memory'",
      `store: 'memory', project: ${JSON.stringify(place.project)}`,
    )
    const said = [...code.matchAll(/ \/\/ (.*)$/gm)].map((match) => match[1])
    const running = startProgram(place, [onBundle, '--input-type=module-typescript', '--eval', code], {
      cwd: packageRoot,
    })
    running.child.stdin.end()
    const { code: exit, stdout, stderr } = await running.ended
    expect([exit, stderr, stdout.trimEnd().split('\n')]).toEqual([0, '', said])
    expect(said.length).toBeGreaterThan(1)
  },
)

test('the file of the page is a definition without an issue (AGENT-1)', async () => {
  const [file] = findBlocks(readPage('docs/agent-definitions.md')).filter(
    ({ language }) => language === 'markdown',
  )
  const place = makePlace({}, { 'agents/reviewer.md': file?.code ?? '' })
  const { code, stdout } = await handrail(place, ['agents', 'show', 'reviewer'])
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('tools: code.read_file, code.search, code.glob, mcp.github.list_issues\n'),
  ])
})
