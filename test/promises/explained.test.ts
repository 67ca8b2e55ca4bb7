import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'
import { atEveryDoor } from './doors.ts'

interface Explained {
  effect: string
  decision: { effect: string; layer: string; rule: string }
}

const policy = {
  rules: [
    {
      id: 'docs',
      effect: 'allow',
      tools: ['code.write_file'],
      resources: ['handrail:file:{project}/docs/**'],
    },
    { id: 'frozen', effect: 'deny', resources: ['handrail:file:{project}/docs/frozen/**'] },
    {
      id: 'look-first',
      effect: 'ask',
      tools: ['code.read_file'],
      resources: ['handrail:file:{project}/legal/**'],
    },
  ],
}

/** Promise 10: any decision can be explained, before and after. */
atEveryDoor((door) => {
  test.each([
    ['code.write_file', { path: 'docs/a.txt', content: 'a' }, 'policy/docs allow'],
    ['code.write_file', { path: 'docs/frozen/a.txt', content: 'a' }, 'policy/frozen deny'],
    ['code.read_file', { path: 'legal/a.txt' }, 'policy/look-first ask'],
    ['code.read_file', { path: 'a.txt' }, 'defaults/readonly allow'],
    ['code.write_file', { path: 'b.txt', content: '' }, 'defaults/write ask'],
  ])('%s %j is explained before as it was decided (PERM-10)', async (tool, input, expected) => {
    const place = makePlace({ 'legal/a.txt': 'l', 'a.txt': 'a' }, { 'policy.json': policy })
    const before = jsonOf<Explained>(
      await handrail(place, ['explain', tool, JSON.stringify(input), '--json']),
    )
    await door.at(place).call(tool, input, { approve: 'deny' })
    const [last] = jsonOf<{ call: string }[]>(await handrail(place, ['evidence', 'list', '--json']))
    const [begin] = jsonOf<{ record: Explained }[]>(
      await handrail(place, ['evidence', 'show', last?.call ?? '', '--json']),
    )
    const { layer, rule, effect } = before.decision
    expect(`${layer}/${rule} ${effect}`).toBe(expected)
    expect(begin?.record.decision).toEqual({ layer, rule, effect })
  })
})
