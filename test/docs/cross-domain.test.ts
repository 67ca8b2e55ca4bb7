import { expect, test } from 'vitest'
import { listen } from '../a2a/two-domains.ts'
import { handrail, makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'
import { makeFolder } from '../support/project.ts'

const blocks = findBlocks(readPage('docs/cross-domain.md'))

test('the program of the page on calls between domains prints what the page says (NEXT-3)', async () => {
  const folder = makeFolder()
  const code = blocks.find(({ language }) => language === 'ts')?.code ?? ''
  const free = await listen()
  free.close()
  const page = code
    .replaceAll('/tmp/handrail-cross-domain', folder)
    .replaceAll('7431', new URL(free.url).port)
  const running = startProgram(makePlace(), [onBundle, '--input-type=module-typescript', '--eval', page], {
    cwd: packageRoot,
  })
  running.child.stdin.end()
  const { code: exit, stdout, stderr } = await running.ended
  const said = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, each]) => each)
  expect([exit, stderr, stdout.trimEnd().split('\n')]).toEqual([0, '', said])
  expect(said).toHaveLength(1)
})

test('the files of the page are taken as they stand (NEXT-3)', async () => {
  const [config, gateway] = blocks
    .filter(({ language }) => language === 'json')
    .map(({ code }) => JSON.parse(code))
  const place = makePlace({}, { 'config.json': config, 'gateway.json': gateway })
  const listed = await handrail(place, ['tools'])
  expect([listed.code, listed.stderr]).toEqual([0, ''])
})
