import { createRuntime, defineTool } from 'handrail'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'
import { openTerminal } from '../support/terminal.ts'

test('a person at a terminal sees how far long work on the evidence is, and a program reads nothing of that', async () => {
  const place = makePlace()
  const look = defineTool({
    name: 'shop.look',
    description: 'Looks.',
    permission: 'readonly',
    input: { type: 'object', properties: { n: { type: 'number' } } },
    run: ({ n = 0 }) => n,
  })
  const runtime = await createRuntime({ project: place.project, tools: [look], store: { path: place.store } })
  const session = runtime.session()
  for (let n = 0; n < 510; n++) await session.call('shop.look', { n })
  await runtime.close()
  for (const [argv, doing, said] of [
    [['evidence', 'verify'], 'Verifying', 'The chain holds'],
    [['evidence', 'export', '--out', join(place.project, 'all.jsonl')], 'Exporting', 'records are in'],
    [['evidence', 'rebuild-archive'], 'Writing the logs again', 'Written again'],
  ] as const) {
    const terminal = openTerminal(place, argv)
    await terminal.saw(`${doing}: 1000 records read`)
    expect(await terminal.ended).toBe(0)
    // The line is cleared before the answer.
    expect(terminal.raw()).toMatch(new RegExp(`read\\x1b\\[K[^]*\\r\\x1b\\[K[^]*${said}`))
  }
  const { stdout, stderr } = await handrail(place, ['evidence', 'verify'])
  expect([stdout.includes('The chain holds'), stderr]).toEqual([true, ''])
})

test('the help of every command and verb has an example that is one of it', async () => {
  const place = makePlace()
  const help = async (...words: string[]) => (await handrail(place, ['help', ...words])).stdout
  const names = (text: string) => [...text.matchAll(/^ {2}([a-z][\w-]*) /gm)].map(([, name = '']) => name)
  const leafs: string[][] = []
  for (const command of names(await help())) {
    const page = await help(command)
    const verbs = page.includes(`Usage: handrail ${command} …`) ? names(page) : []
    leafs.push(...(verbs.length === 0 ? [[command]] : verbs.map((verb) => [command, verb])))
  }
  expect(leafs.length).toBeGreaterThan(60)
  for (const words of leafs) {
    const [, examples = ''] = (await help(...words)).split('Examples:')
    expect([words, examples]).toEqual([words, expect.stringMatching(new RegExp(`handrail ${words[0]}`))])
  }
})
