import { errorTable } from '../../contract/errors/error-table.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import type { Issue, Json } from '../../contract/base/json.ts'
import type { ContentBlock } from '../../contract/base/result.ts'
import { isBase64 } from '../../kit/secrets/is-base64.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { shorten } from '../../kit/text/shorten.ts'

/** What in a value does not have the form of a `ToolOutput`. Fields that this form does not know are ignored. */
export function findMisfits(output: Json): Issue[] {
  return findIssues(output, outputForm)
}

/** The same for its error. */
export function findErrorMisfits(error: Json): Issue[] {
  return findIssues(error, errorForm)
}

function findIssues(value: Json, wanted: Form): Issue[] {
  const look: Look = { path: [], issues: [] }
  wanted(value, look)
  return look.issues
}

interface Look {
  /** Tokens of the pointer to the value at hand. */
  readonly path: (string | number)[]
  readonly issues: Issue[]
}

/** Holds a value against a form. */
type Form = (value: Json | undefined, look: Look) => void

function form(wanted: string, fits: (value: Json | undefined) => boolean): Form {
  return (value, { path, issues }) => {
    if (fits(value)) return
    const message = `Found ${describe(value)}; give ${wanted}.`
    issues.push({ pointer: path.reduce(pointerTo, ''), code: 'wrong_form', message })
  }
}

function describe(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(shorten(value, 60))
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `the ${typeof value} ${String(value)}`
}

function optional(given: Form): Form {
  return (value, look) => {
    if (value !== undefined) given(value, look)
  }
}

function listOf(item: Form): Form {
  return (value, look) => {
    if (!Array.isArray(value)) return list(value, look)
    for (let index = 0; index < value.length; index++) {
      look.path.push(index)
      item(value[index], look)
      look.path.pop()
    }
  }
}

function objectOf(fields: { readonly [name: string]: Form }): Form {
  const entries = Object.entries(fields)
  return (value, look) => {
    if (!isJsonObject(value)) return object(value, look)
    for (const [name, part] of entries) {
      look.path.push(name)
      part(value[name], look)
      look.path.pop()
    }
  }
}

const list = form('a list', Array.isArray)
const object = form('an object', isJsonObject)
const text = form('a text', (value) => typeof value === 'string')
const word = form('a text that is not empty', (value) => typeof value === 'string' && value !== '')
const json = form('a JSON value', (value) => value !== undefined)
const base64 = form('text in Base64', isBase64)
const bytes = form('a number of bytes', (value) => Number.isSafeInteger(value) && Number(value) >= 0)
const digest = form(
  'the digest of an artifact',
  (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value),
)
const yes = form('true', (value) => value === true)
const artifact = objectOf({
  digest,
  bytes,
  mimeType: text,
  name: optional(text),
  truncated: optional(yes),
})

const blocks: { readonly [type in ContentBlock['type']]: Form } = {
  text: objectOf({ text, aside: optional(object) }),
  json: objectOf({ json }),
  image: objectOf({ data: base64, mimeType: word, aside: optional(object) }),
  audio: objectOf({ data: base64, mimeType: word, aside: optional(object) }),
  resource: objectOf({
    uri: text,
    name: optional(text),
    mimeType: optional(text),
    text: optional(text),
    blob: optional(base64),
    server: optional(text),
    aside: optional(object),
  }),
  artifact_ref: objectOf({ artifact, note: optional(text) }),
  other: objectOf({ block: object }),
}
const blockForms = new Map(Object.entries(blocks))
const kindOfBlock = form(`a block of the type ${Object.keys(blocks).join(', ')}`, () => false)

const block: Form = (value, look) => {
  const type = isPlainObject(value) ? value['type'] : undefined
  const own = (typeof type === 'string' ? blockForms.get(type) : undefined) ?? kindOfBlock
  own(value, look)
}

const errorForm = objectOf({
  code: optional(
    form('a code of errorTable', (value) => typeof value === 'string' && Object.hasOwn(errorTable, value)),
  ),
  reason: word,
  message: text,
  issues: optional(listOf(objectOf({ pointer: text, code: text, message: text }))),
  data: optional(object),
})

const outputForm = objectOf({
  content: listOf(block),
  summary: optional(text),
  artifacts: optional(listOf(artifact)),
  error: optional(errorForm),
  metadata: optional(object),
})
