import type { Decision, DecisionFacts } from '../contract/policy.ts'
import type { ToolDefinition } from '../contract/tool/tool.ts'
import { expect, test } from 'vitest'
import { indexRules } from './compile-rules.ts'
import { createKeptDecisions } from './kept-decisions.ts'

const principal = Object.freeze({ tenant: 'local', actor: 'ann', role: 'main' as const })
const [read, write] = ['shop.read', 'shop.write'].map(
  (name) => ({ name, tags: [] }) as unknown as ToolDefinition,
)
if (read === undefined || write === undefined) throw new Error('no tools')
const plain: DecisionFacts = {
  definition: read,
  principal,
  mode: 'default',
  operations: undefined,
  granted: undefined,
}

test('what the tool, the mode and the principal decide is decided once; all else each time', () => {
  let decided = 0
  const keep = createKeptDecisions(indexRules([]))
  const decide = (facts: DecisionFacts): Decision =>
    keep(facts, () => ({
      effect: 'allow',
      layer: 'defaults',
      rule: `${++decided}`,
      reason: '',
      verdicts: [],
    }))
  const first = decide(plain)
  expect([decide(plain), Object.isFrozen(first)]).toEqual([first, true])
  const planned = { ...plain, operations: [] }
  expect([decide(planned).rule, decide(planned).rule, decide(plain).rule]).toEqual(['2', '2', '1'])
  expect(decide({ ...plain, mode: 'plan' }).rule).toBe('3')
  expect(decide(plain).rule).toBe('4')
  expect(decide({ ...plain, definition: write }).rule).toBe('5')
  const anew: DecisionFacts[] = [
    { ...planned, granted: 'consent' },
    { ...planned, ancestors: [] },
    { ...planned, skills: [] },
    { ...plain, principal: { ...principal } },
    { ...plain, operations: [{ kind: 'other', resource: 'a till' }] },
  ]
  for (const facts of anew) expect(decide(facts)).not.toEqual(decide(facts))
})
