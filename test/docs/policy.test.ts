import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  environmentOf,
  expectNoStack,
  makePlace,
  onBundle,
  packageRoot,
  program,
  startProgram,
  type Place,
} from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

const blocks = findBlocks(readPage('docs/policy.md'))
const codeOf = (language: string, part: string) =>
  blocks.find((block) => block.language === language && block.code.includes(part))?.code ?? ''

/** A person under the policy of the page, in a project with the files that the commands of the page name. */
function makeOffice(): Place {
  const policy = codeOf('json', '"rules"')
  const place = makePlace(
    { 'README.md': '# A project\n', 'new.json': policy, 'cases.json': codeOf('json', '"cases"') },
    { 'policy.json': policy },
  )
  mkdirSync(join(place.project, 'docs'))
  return place
}

/** A line of the page as a person would paste it. */
async function runLine(place: Place, line: string) {
  const shell = `handrail() { "${process.execPath}" "${program}" "$@"; }; ${line}`
  const running = startProgram(place, ['-c', shell], { command: 'sh' })
  running.child.stdin.end()
  const ended = await running.ended
  expectNoStack(ended)
  return ended
}

const lines = blocks
  .filter(({ language }) => language === 'bash')
  .flatMap(({ code }) => code.trim().split('\n'))

test('there are commands to run', () => {
  expect(lines.length).toBeGreaterThanOrEqual(4)
})

const said: { readonly [command: string]: RegExp } = {
  'policy check': /^3 rules: no issue\.\n$/,
  'policy test': /^3 cases: as expected\.\n$/,
  'policy shadow': /^1 call judged, 0 decided in another way\.\n$/,
  'policy suggest': /^0 rules suggested\./,
  'policy save': /\n1 call of the last seven days judged, 0 would be decided in another way\.\nVersion 2 of /,
  'policy versions': /^ +1 .* found in the file\n1 version\n$/,
  'policy restore': /\nVersion 2 of .*policy\.json is saved\./,
  explain: /mode_denied/,
}

test.each(lines)('%s', async (line) => {
  const place = makeOffice()
  await runLine(place, `handrail call code.read_file '{"path": "README.md"}'`)
  const { code, stdout, stderr } = await runLine(place, line)
  const [, expected] = Object.entries(said).find(([command]) => line.startsWith(`handrail ${command}`)) ?? []
  expect(stderr).toBe('')
  expect(stdout).toMatch(expected ?? /^nothing is expected of this line$/)
  expect(code).toBe(line.startsWith('handrail explain') ? 3 : 0)
})

const programs = blocks.filter(({ language }) => language === 'ts')

test.each(programs)('the program under "$heading" prints what it says', ({ code }) => {
  const place = makeOffice()
  // Read from the package, where its name resolves; run for the project of the place.
  const source = code.replaceAll(`project: '.'`, `project: ${JSON.stringify(place.project)}`)
  const ran = spawnSync(process.execPath, [onBundle, '--input-type=module-typescript', '-'], {
    cwd: packageRoot,
    env: environmentOf(place),
    input: source,
    encoding: 'utf8',
  })
  const comments = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map((match) => match[1])
  expect(comments.length).toBeGreaterThan(0)
  expect([ran.stderr, ran.status]).toEqual(['', 0])
  expect(ran.stdout.trimEnd().split('\n')).toEqual(comments)
})

test('the tables of layers and of rule fields are whole', () => {
  const page = readPage('docs/policy.md')
  const schema = JSON.parse(readFileSync(join(packageRoot, 'schemas', 'policy.json'), 'utf8')) as {
    properties: { rules: { items: { properties: object } } } & object
  }
  for (const part of Object.keys(schema.properties))
    if (part !== '$schema') expect(page).toContain(`\`${part}\``)
  for (const field of Object.keys(schema.properties.rules.items.properties))
    expect([field, page.includes(`\`${field}\``) || page.includes(`"${field}"`)]).toEqual([field, true])
})
