import { DatabaseSync } from 'node:sqlite'
import type { CallExplanation } from 'handrail/replay'
import { expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { handrail, jsonOf, makePlace, type Place } from '../../support/command-line.ts'
import { atEveryDoor } from '../doors/doors.ts'

interface Explained {
  effect: string
  decision: { effect: string; layer: string; rule: string }
}

/** The call that ended last, explained afterwards. */
async function explainLast(place: Place): Promise<CallExplanation> {
  using store = new DatabaseSync(place.store, { readOnly: true })
  const last = store
    .prepare("SELECT call FROM records WHERE kind = 'end' ORDER BY sequence DESC LIMIT 1")
    .get()
  return jsonOf<CallExplanation & Explained>(
    await handrail(place, ['explain', '--call', String(last?.['call']), '--json']),
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
  const open = keepOpen(() => {
    const place = makePlace({ 'legal/a.txt': 'l', 'a.txt': 'a' }, { 'policy.json': policy })
    return { place, at: door.at(place) }
  })

  test.each([
    ['code.write_file', { path: 'docs/a.txt', content: 'a' }, 'policy/docs allow'],
    ['code.write_file', { path: 'docs/frozen/a.txt', content: 'a' }, 'policy/frozen deny'],
    ['code.read_file', { path: 'legal/a.txt' }, 'policy/look-first ask'],
    ['code.read_file', { path: 'a.txt' }, 'defaults/readonly allow'],
    ['code.write_file', { path: 'b.txt', content: '' }, 'defaults/write ask'],
  ])('%s %j is explained before as it was decided (PERM-10)', async (tool, input, expected) => {
    const { place, at } = open()
    const before = jsonOf<Explained>(
      await handrail(place, ['explain', tool, JSON.stringify(input), '--json']),
    )
    await at.call(tool, input, { approve: 'deny' })
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
    const { place, at } = open()
    const answer = await at.call(tool, input, { approve: 'deny' })
    expect(answer).toMatchObject({ ok: false, reason })
    const after = await explainLast(place)
    expect(after).toMatchObject({ begin: { tool }, end: { outcome: 'denied', reason }, differences: [] })
    // Over MCP a tool goes by another name, and a person at the command line is told what a person can do about it.
    const answered = answer.text.replaceAll('__', '.')
    const toPerson = reason === 'denied' ? `"${tool}" was denied.` : `There is no tool "${tool}" here.`
    expect([String(after.message), toPerson].some((message) => answered.includes(message))).toBe(true)
    expect(after.now).toHaveProperty('preflight.effect', reason === 'denied' ? 'ask' : 'deny')
  })
})
