import { ToolFailure } from '../../contract/base/errors.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { ModelSettings } from '../../contract/base/services.ts'
import type { Tool } from '../../contract/base/tool.ts'
import type { ModelSettingConfiguration } from '../../contract/configuration.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { defineBuiltin } from '../define-builtin.ts'

/** What the operator opened to models, by key. */
export type DeclaredSettings = Readonly<Record<string, ModelSettingConfiguration>>

interface Wish {
  readonly action: 'get' | 'set' | 'list'
  readonly key: string | undefined
  readonly value: Json | undefined
}

const longestText = 10_000
const valueSchema = { type: ['string', 'number', 'boolean'] } as const

const input = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ['get', 'set', 'list'] },
    key: { type: 'string', maxLength: 200, description: 'For get and set.' },
    value: { ...valueSchema, description: 'For set.' },
  },
  required: ['action'],
  additionalProperties: false,
} as const

/** `internal.config`: the settings that the operator opened to models, and no others. */
export function configTool(settings: DeclaredSettings): Tool {
  const declared = new Map(Object.entries(settings))
  const keys = [...declared.keys()].map((key) => `"${key}"`).join(', ')
  const find = (key: string | undefined): { key: string; setting: ModelSettingConfiguration } => {
    const setting = key === undefined ? undefined : declared.get(key)
    if (key !== undefined && setting !== undefined) return { key, setting }
    throw new ToolFailure({
      reason: 'unknown_setting',
      message: `No setting "${key ?? ''}" is open to models. ${keys === '' ? 'None is.' : `There are: ${keys}.`}`,
    })
  }
  return defineBuiltin({
    name: 'internal.config',
    title: 'Settings',
    description: `Shows and sets what the operator opened to models: ${keys || 'nothing'}. list shows each with its type and value. What is set holds for this user, also in later sessions.`,
    tags: ['setting', 'write'],
    permission: 'write',
    sideEffect: 'write',
    scopes: [{ resource: 'handrail:setting:*', action: 'write' }],
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    needs: ['modelSettings'],
    ...(declared.size === 0 && { unavailable }),
    input,
    output: {
      type: 'object',
      properties: {
        settings: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              key: { type: 'string' },
              type: { type: 'string' },
              value: valueSchema,
              values: { type: 'array', items: valueSchema },
              description: { type: 'string' },
              writable: { type: 'boolean' },
            },
            required: ['key', 'type', 'writable'],
            additionalProperties: false,
          },
        },
      },
      required: ['settings'],
      additionalProperties: false,
    },
    compatible: { name: 'Config', inputSchema: input, toCanonical: (given) => given },
    decode: ({ action, key, value }): Wish => ({ action, key, value }),
    async plan({ action, key, value }) {
      if (action === 'list') return { operations: [], planned: null }
      const { setting } = find(key)
      const operations = [{ kind: 'other', resource: `handrail:setting:${key ?? ''}` }] as const
      if (action === 'get') return { operations, planned: null }
      checkValue(value, { key: key ?? '', setting })
      return {
        operations,
        preview: {
          kind: 'text',
          title: `Set ${key ?? ''}`,
          body: showControls(JSON.stringify(value) ?? ''),
        },
        planned: null,
      }
    },
    async run({ action, key, value }, { modelSettings }) {
      if (action === 'list')
        return toOutput([...declared].map(([each, setting]) => show(each, setting, modelSettings)))
      const found = find(key)
      if (action === 'set') await modelSettings.write(found.key, checkValue(value, found))
      return toOutput([show(found.key, found.setting, modelSettings)])
    },
  })
}

const unavailable =
  'no setting is open to models. The operator opens some in modelSettings of config.json, or in settingTools({ settings })'

function checkValue(
  value: Json | undefined,
  { key, setting }: { key: string; setting: ModelSettingConfiguration },
): string | number | boolean {
  const { type, writable } = setting
  if (writable !== true)
    throw new ToolFailure({
      reason: 'setting_read_only',
      message: `The setting "${key}" is shown to models, and set by the operator alone.`,
    })
  if (isOf(value, setting)) return value
  const values =
    setting.enum === undefined ? `a ${type}` : setting.enum.map((each) => JSON.stringify(each)).join(', ')
  const message = `The setting "${key}" takes ${values}.`
  throw new ToolFailure({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message,
    issues: [{ pointer: '/value', code: 'wrong_value', message }],
  })
}

function isOf(
  value: Json | undefined,
  { type, enum: values }: ModelSettingConfiguration,
): value is string | number | boolean {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return false
  if (typeof value !== type || (typeof value === 'string' && value.length > longestText)) return false
  return values === undefined || values.includes(value)
}

/** A kept value that the operator does not allow any more is not shown. */
function show(key: string, setting: ModelSettingConfiguration, kept: ModelSettings): JsonObject {
  const { type, enum: values, default: usual, description, writable = false } = setting
  const found = kept.read(key)
  const value = isOf(found, setting) ? found : usual
  return {
    key,
    type,
    writable,
    ...(value !== undefined && { value }),
    ...(values !== undefined && { values: [...values] }),
    ...(description !== undefined && { description }),
  }
}

function toOutput(settings: JsonObject[]) {
  const lines = settings.map(
    ({ key = '', value = null }) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  )
  return toolOutput({
    content: [{ type: 'text', text: lines.join('\n') }],
    summary: `${settings.length} settings`,
    data: { settings },
  })
}
