import { settingTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { openRuntime, personSaying } from '../support/project.ts'

const settings = {
  tone: {
    type: 'string',
    enum: ['short', 'long'],
    default: 'short',
    description: 'How it answers.',
    writable: true,
  },
  limit: { type: 'number', writable: true },
  region: { type: 'string', default: 'eu' },
} as const

const allowed = { rules: [{ effect: 'allow' as const, tools: ['internal.config'] }] }

async function open(policy: object = allowed) {
  const person = personSaying('allow_once')
  const runtime = await openRuntime({ tools: [settingTools({ settings })], policy, approve: person.approve })
  return { runtime, asked: person.asked }
}

test('models see and set what the operator opened, each user their own, and it is kept (BI-5)', async () => {
  const { runtime } = await open()
  const config = async (input: object, actor = 'ada') =>
    (await runtime.session({ actor }).call('Config', { ...input }, { presentation: 'compatible' })).data
  expect(await config({ action: 'set', key: 'tone', value: 'long' })).toMatchObject({
    settings: [{ key: 'tone', value: 'long' }],
  })
  expect(await config({ action: 'list' })).toMatchObject({
    settings: [
      { key: 'tone', type: 'string', value: 'long', values: ['short', 'long'], writable: true },
      { key: 'limit', type: 'number', writable: true },
      { key: 'region', value: 'eu', writable: false },
    ],
  })
  expect(await config({ action: 'get', key: 'tone' }, 'bob')).toMatchObject({
    settings: [{ value: 'short' }],
  })
})

test('what is not open, not writable or of another type is refused, and nothing is changed (BI-5)', async () => {
  const { runtime } = await open()
  const session = runtime.session()
  const reason = async (input: object) => (await session.call('internal.config', { ...input })).error?.reason
  expect(await reason({ action: 'set', key: 'policy', value: 'x' })).toBe('unknown_setting')
  expect(await reason({ action: 'get', key: '__proto__' })).toBe('unknown_setting')
  expect(await reason({ action: 'set', key: 'region', value: 'us' })).toBe('setting_read_only')
  expect(await reason({ action: 'set', key: 'tone', value: 'loud' })).toBe('invalid_input')
  expect(await reason({ action: 'set', key: 'limit', value: 'many' })).toBe('invalid_input')
  expect(await reason({ action: 'set', key: 'limit' })).toBe('invalid_input')
  expect(runtime.store.documents({ tenant: 'local', kind: 'setting' })).toEqual([])
})

test('setting one asks a person unless a rule lets it, and plan mode does not (BI-5, POOL-3)', async () => {
  const { runtime, asked } = await open({})
  const set = { action: 'set', key: 'tone', value: 'long' }
  expect((await runtime.session().call('internal.config', set)).ok).toBe(true)
  expect(asked[0]?.preview).toMatchObject({ title: 'Set tone', body: '"long"' })
  const planned = await runtime.session({ mode: 'plan' }).call('internal.config', set)
  expect(planned.error?.reason).toBe('mode_denied')
})

test('settings that cannot be are refused with what is wrong (BI-5)', () => {
  expect(() => settingTools({ settings: { x: { type: 'number', enum: ['a'] } } })).toThrow(
    '/modelSettings/x/enum',
  )
  expect(() => settingTools({ settings: { x: { type: 'string', default: 3 } } })).toThrow(
    '/modelSettings/x/default',
  )
})
