import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { Effect } from '../../contract/policy.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'

/** The strictest first: it decides where one rule stands in several lists. */
const effects: readonly Effect[] = ['deny', 'ask', 'allow']

/** A rule as the settings have it. */
export interface GivenRule {
  effect: Effect
  text: string
  pointer: string
}

/** What settings say about permissions. */
export interface GivenPermissions {
  rules: readonly GivenRule[]
  defaultMode: string | undefined
  additionalDirectories: readonly string[]
  hooks: boolean
}

/** Reads settings, the strictest rules first. Throws a SetupError with every issue where they are none. */
export function readSettings(settings: unknown): GivenPermissions {
  const issues: Issue[] = []
  const refuse = (pointer: string, message: string) =>
    issues.push({ pointer, code: 'invalid_settings', message })
  const object = (value: unknown, pointer: string): Record<string, unknown> => {
    if (isPlainObject(value)) return value
    if (value !== undefined || pointer === '')
      refuse(
        pointer,
        'It is not an object. Settings have "permissions": {"allow": [], "ask": [], "deny": []}.',
      )
    return {}
  }
  const texts = (value: unknown, pointer: string): { text: string; pointer: string }[] => {
    if (value === undefined) return []
    if (!Array.isArray(value)) {
      refuse(pointer, 'It is not a list of texts. Put them into "[…]".')
      return []
    }
    return value.flatMap((text: unknown, index) => {
      if (typeof text === 'string') return [{ text, pointer: pointerTo(pointer, index) }]
      refuse(pointerTo(pointer, index), 'It is not text. Put it into quotes or take it out.')
      return []
    })
  }
  const { permissions, hooks } = object(settings, '')
  const given = object(permissions, '/permissions')
  const rules = effects.flatMap((effect) =>
    texts(given[effect], `/permissions/${effect}`).map((rule) => ({ ...rule, effect })),
  )
  const directories = texts(given['additionalDirectories'], '/permissions/additionalDirectories')
  const { defaultMode } = given
  if (defaultMode !== undefined && typeof defaultMode !== 'string')
    refuse('/permissions/defaultMode', 'It is not text. Put it into quotes or take it out.')
  if (issues.length > 0) throw new SetupError('invalid_configuration', 'The settings cannot be read:', issues)
  return {
    rules,
    defaultMode: typeof defaultMode === 'string' ? defaultMode : undefined,
    additionalDirectories: directories.map(({ text }) => text),
    hooks: isPlainObject(hooks) && Object.keys(hooks).length > 0,
  }
}
