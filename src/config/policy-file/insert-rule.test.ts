import { expect, test } from 'vitest'
import { parseWrittenJson } from '../../kit/json/parse-written-json.ts'
import { insertRule } from './insert-rule.ts'

const rule = { effect: 'allow', tools: ['a.b'] }
const asJson = (text: string): unknown => {
  const read = parseWrittenJson(text)
  return 'value' in read ? read.value : read.issues
}

test.each([
  ['', ['rules', 0], { rules: [rule] }],
  ['{}', ['tenants', 'acme', 'rules', 0], { tenants: { acme: { rules: [rule] } } }],
  [
    '{ "tenants": { "acme": {} } }',
    ['tenants', 'acme', 'rules', 0],
    { tenants: { acme: { rules: [rule] } } },
  ],
  ['{ "rules": [] }', ['rules', 0], { rules: [rule] }],
  ['{ "rules": [1] }', ['rules', 1], { rules: [1, rule] }],
  ['{\n  // ours\n  "mode": "plan"\n}\n', ['rules', 0], { mode: 'plan', rules: [rule] }],
  ['{\n  "rules": [\n    1, // one\n  ]\n}\n', ['rules', 1], { rules: [1, rule] }],
] as const)('a rule goes to the end of its list in %j', (text, place, expected) => {
  const changed = insertRule(text, place, rule)
  expect(asJson(changed)).toEqual(expected)
  for (const [comment] of text.matchAll(/\/\/.*/g)) expect(changed).toContain(comment)
})
