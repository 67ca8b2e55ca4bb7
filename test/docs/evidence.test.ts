import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call, handrail, makePlace, startProgram, type Ended } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test('the verifier on the page about evidence agrees with an export, and with no changed one (EVID-7)', async () => {
  const [block] = findBlocks(readPage('docs/evidence.md')).filter(({ language }) => language === 'js')
  const place = makePlace({ 'a.txt': 'a\n', 'verify.mjs': block?.code ?? '' })
  await call(place, 'code.read_file', { path: 'a.txt' })
  await call(place, 'code.write_file --approve deny', { path: 'b.txt', content: 'b' })
  await handrail(place, ['evidence', 'rotate-key'])
  const file = join(place.project, 'evidence.jsonl')
  await handrail(place, ['evidence', 'export', '--out', file])
  const verify = (): Promise<Ended> => startProgram(place, ['verify.mjs', file]).ended
  const good = await verify()
  expect([good.code, good.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^: (\d+) records, signed up to \d+\nlocal: 9 records, signed up to 8\nkey_\w{32}\nkey_\w{32}\n$/,
    ),
  ])

  const text = readFileSync(file, 'utf8')
  const changes: [what: string, changed: string, says: string][] = [
    ['a letter', text.replace('"path', '"Path'), 'the file is damaged'],
    ['a line less', text.replace(/\n.*\n/, '\n'), 'the file is damaged'],
    ['its end', text.slice(0, text.trimEnd().lastIndexOf('\n') + 1), 'is not a whole export'],
  ]
  for (const [what, changed, says] of changes) {
    writeFileSync(file, changed)
    const bad = await verify()
    expect([what, bad.code, bad.stdout]).toEqual([what, 1, ''])
    expect(bad.stderr).toContain(says)
  }
})
