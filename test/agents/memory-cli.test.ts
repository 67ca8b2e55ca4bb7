import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'

test('at the terminal facts are listed, taken, recalled and forgotten (BI-8)', async () => {
  const place = makePlace(
    {},
    {
      'config.json': { toolGroups: ['memory'] },
      'policy.json': { rules: [{ effect: 'allow', tools: ['internal.write_memory'] }] },
    },
  )
  for (const content of ['This project indents with tabs.', 'The build is slow.']) {
    const written = await handrail(place, ['call', 'internal.write_memory', JSON.stringify({ content })])
    expect(written).toMatchObject({ code: 0 })
  }
  const listed = await handrail(place, ['memory'])
  expect(listed.stdout).toContain('0 facts, 2 candidates')
  const ids = listed.stdout.split('\n').map((line) => line.split(' ')[0] ?? '')
  expect((await handrail(place, ['memory', 'accept', ids[0]?.slice(-8) ?? ''])).code).toBe(0)
  expect((await handrail(place, ['memory', 'reject', ids[1] ?? ''])).code).toBe(0)
  expect((await handrail(place, ['memory', 'recall', 'tabs'])).stdout).toContain('indents with tabs')
  expect((await handrail(place, ['memory', 'show', ids[0] ?? ''])).stdout).toMatch(/by +model/)
  expect((await handrail(place, ['memory'])).stdout).toContain('1 fact, 0 candidates')
  expect(await handrail(place, ['memory', 'show', 'nope'])).toMatchObject({ code: 2 })
  const recalled = await handrail(place, ['call', 'internal.recall_memory', '{"query":"tabs"}'])
  expect(recalled.stdout).toContain('This project indents with tabs.')
})
