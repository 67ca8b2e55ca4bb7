import type { CallExplanation } from 'handrail'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace, type Place } from '../../support/command-line.ts'
import { atEveryDoor } from '../doors/doors.ts'

interface Explained {
  effect: string
  decision: { effect: string; layer: string; rule: string }
}

/** The call that ended last, explained afterwards. */
async function explainLast(place: Place): Promise<CallExplanation> {
  const [last] = jsonOf<{ call: string }[]>(await handrail(place, ['evidence', 'list', '--json']))
  return jsonOf<CallExplanation & Explained>(
    await handrail(place, ['explain', '--call', last?.call ?? '', '--json']),
  )
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
    const after = await explainLast(place)
    const { layer, rule, effect } = before.decision
    expect(`${layer}/${rule} ${effect}`).toBe(expected)
    expect(after.begin.decision).toEqual({ layer, rule, effect })
    expect(after).toMatchObject({ now: { preflight: { decision: before.decision } }, differences: [] })
  })

  test.each([
    ['no_such', {}, 'tool_not_available'],
    ['code.write_file', { path: '../a.txt', content: '' }, 'write_outside_allowed_roots'],
    ['code.write_file', { path: 'b.txt', content: '' }, 'denied'],
  ])('%s %j is explained by what ended it (PERM-10)', async (tool, input, reason) => {
    const place = makePlace({}, { 'policy.json': policy })
    const answer = await door.at(place).call(tool, input, { approve: 'deny' })
    expect(answer).toMatchObject({ ok: false, reason })
    const after = await explainLast(place)
    expect(after).toMatchObject({ begin: { tool }, end: { outcome: 'denied', reason }, differences: [] })
    expect(answer.text).toContain(after.message)
    expect(after.now).toHaveProperty('preflight.effect', reason === 'denied' ? 'ask' : 'deny')
  })
})
