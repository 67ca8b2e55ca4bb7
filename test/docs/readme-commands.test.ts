import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectNoStack, makePlace, packageRoot, startProgram, type Place } from '../support/command-line.ts'
import { findBlocks, listPages, readPage } from '../support/markdown.ts'

/** Runs a line of a page as a person would paste it, for a project of its own. */
async function runLine(place: Place, line: string) {
  const running = startProgram(place, ['-c', line], {
    command: 'sh',
    cwd: packageRoot,
    env: { HANDRAIL_PROJECT: place.project },
  })
  running.child.stdin.end()
  const ended = await running.ended
  expectNoStack(ended)
  return ended
}

const blocks = listPages().flatMap((page) =>
  findBlocks(readPage(page))
    .filter((block) => block.language === 'bash')
    .map((block) => ({
      page,
      lines: block.code.split('\n').filter((line) => /npm run -s handrail --/.test(line)),
    })),
)

test.each(blocks.filter(({ lines }) => lines.length > 0))(
  'the commands of $page run in their order, in silence but for their output',
  async ({ lines }) => {
    const place = makePlace({ 'README.md': '# A project\n' })
    for (const line of lines) {
      const { code, stderr } = await runLine(place, line)
      expect([line, code, stderr]).toEqual([line, 0, ''])
    }
  },
)

test('what the README says about them is so', async () => {
  const place = makePlace({ 'README.md': '# A project\n' })
  const line = 'npm run -s handrail -- call code.write_file \'{"path": "notes.txt", "content": "hi"}\''
  expect(readPage('README.md')).toContain(`${line} --approve once`)
  const denied = await runLine(place, line)
  expect([denied.code, existsSync(join(place.project, 'notes.txt'))]).toEqual([3, false])
  expect(await runLine(place, `${line} --approve once`)).toMatchObject({ code: 0 })
  const verified = await runLine(place, 'npm run -s handrail -- evidence verify')
  expect(verified.code).toBe(0)
  // Each command is a process of its own, which signs what it wrote: two records and a signature.
  expect(verified.stdout).toMatch(
    /^The chain holds: 6 records of 2 calls\.\nSigned: 6 records by key_[0-9a-f]{32}\.\n$/,
  )
})
