import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  expectNoStack,
  handrail,
  makePlace,
  packageRoot,
  program,
  startProgram,
  type Place,
} from '../support/command-line.ts'
import { findBlocks, listPages, readPage } from '../support/markdown.ts'

/** In the place of npm, whose own start takes longer than that of what it starts. */
const insteadOfNpm = `npm() {
  [ "$1 $2 $3 $4" = "run -s handrail --" ] || exit 99
  shift 4
  "${process.execPath}" "${program}" "$@"
}
`
/** In the place of npm too: says which words the shell makes of a line. */
const sayWords = `npm() {
  [ "$1 $2 $3 $4" = "run -s handrail --" ] || exit 99
  shift 4
  printf '%s\\0' "$@"
}
`

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

/** The same without a shell of its own for what needs none. */
function runCommand(place: Place, line: string) {
  if (line.includes('|')) return runLine(place, insteadOfNpm + line)
  const words = execFileSync('sh', ['-c', sayWords + line], { encoding: 'utf8' }).split('\0')
  const options = { cwd: packageRoot, env: { HANDRAIL_PROJECT: place.project } }
  return handrail(place, words.slice(0, -1), options)
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
      const { code, stderr } = await runCommand(place, line)
      expect([line, code, stderr]).toEqual([line, 0, ''])
    }
  },
)

test('what the README says about them is so', async () => {
  const place = makePlace({ 'README.md': '# A project\n' })
  const line = 'npm run -s handrail -- call code.write_file path=notes.txt content=hi overwrite=true'
  expect(readPage('README.md')).toContain(`${line} --approve once`)
  const denied = await runLine(place, line)
  expect([denied.code, existsSync(join(place.project, 'notes.txt'))]).toEqual([3, false])
  expect(await runLine(place, `${line} --approve once`)).toMatchObject({ code: 0 })
  const verified = await runLine(place, 'npm run -s handrail -- evidence verify')
  expect(verified.code).toBe(0)
  // Each command is a process of its own, which signs what it wrote.
  expect(verified.stdout).toMatch(
    /^The chain holds: (\d+) records of 2 calls\.\nSigned: \1 records by key_[0-9a-f]{32}\.\n$/,
  )
})
