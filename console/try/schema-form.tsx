import { useState } from 'preact/hooks'
import type { JsonSchema } from '../../src/contract/base/schema.ts'
import type { Json } from '../api.ts'
import { RawField } from './raw-field.tsx'

/** A value that its schema describes, and how it is changed; undefined is left out. */
interface Field {
  readonly schema: JsonSchema
  readonly name: string
  readonly pointer: string
  readonly value: Json | undefined
  readonly isRequired: boolean
  /** What is wrong with the input, by pointer. */
  readonly faults: ReadonlyMap<string, string>
  readonly onChange: (value: Json | undefined) => void
}

/** Fields below this are written as JSON. */
const deepest = 4
const beyondForms = ['$ref', 'allOf', 'anyOf', 'oneOf'] as const

/** How a form shows what a schema describes. `json`: what no other field can. */
function kindOf(schema: JsonSchema, pointer: string): string {
  if (schema.enum !== undefined || schema.const !== undefined) return 'choice'
  if (pointer.split('/').length > deepest || beyondForms.some((word) => word in schema)) return 'json'
  const { type, properties = {}, items } = schema
  if (type === 'object') return Object.keys(properties).length > 0 ? 'object' : 'json'
  if (type === 'array') return items === undefined ? 'json' : 'array'
  return typeof type === 'string' ? type : 'json'
}

/** Whether a form can show the input of a tool. */
export function hasForm(schema: JsonSchema): boolean {
  return kindOf(schema, '') === 'object'
}

/** What a form starts with: objects that must be there. */
export function emptyOf({ properties = {}, required = [] }: JsonSchema): { [name: string]: Json } {
  const objects = Object.entries(properties).filter(
    ([name, schema]) => required.includes(name) && kindOf(schema, '/') === 'object',
  )
  return Object.fromEntries(objects.map(([name, schema]) => [name, emptyOf(schema)]))
}

/** The fields of an object, in the order of its schema. */
export function ObjectFields({
  schema,
  pointer,
  value,
  faults,
  onChange,
}: Omit<Field, 'name' | 'isRequired'>) {
  const own = isObject(value) ? value : {}
  const change = (name: string, next: Json | undefined): void => {
    const { [name]: _was, ...others } = own
    onChange(next === undefined ? others : { ...others, [name]: next })
  }
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, each]) => (
        <AnyField
          key={name}
          schema={each}
          name={name}
          pointer={`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
          value={Object.hasOwn(own, name) ? own[name] : undefined}
          isRequired={schema.required?.includes(name) ?? false}
          faults={faults}
          onChange={(next) => change(name, next)}
        />
      ))}
    </>
  )
}

function AnyField(field: Field) {
  const { schema, name, pointer, isRequired, faults, value, onChange } = field
  const kind = kindOf(schema, pointer)
  const fault = faults.get(pointer)
  const id = `try-${encodeURIComponent(pointer)}`
  const about = (
    <p id={id} class="about">
      {[isRequired && 'Needed.', schema.description, kind === 'json' && 'As JSON.'].filter(Boolean).join(' ')}
      {fault !== undefined && <strong class="fault"> {fault}</strong>}
    </p>
  )
  if (kind === 'object' || kind === 'array')
    return (
      <fieldset aria-describedby={id}>
        <legend>{schema.title ?? name}</legend>
        {about}
        {kind === 'array' ? (
          <Items {...field} />
        ) : (
          <ObjectFields
            {...field}
            onChange={(next) => onChange(!isRequired && isEmpty(next) ? undefined : next)}
          />
        )}
      </fieldset>
    )
  const told = { 'aria-describedby': id, 'aria-invalid': fault !== undefined }
  return (
    <div class="field">
      <label>
        {schema.title ?? name}
        {kind === 'choice' || kind === 'boolean' ? (
          <Choice {...{ schema, value, onChange, told }} />
        ) : kind === 'number' || kind === 'integer' ? (
          <NumberField {...{ value, onChange, told }} />
        ) : kind === 'string' ? (
          <textarea
            {...told}
            rows={1}
            value={typeof value === 'string' ? value : ''}
            onInput={({ currentTarget }) => onChange(currentTarget.value || undefined)}
          />
        ) : (
          <RawField {...{ value, onChange, told }} />
        )}
      </label>
      {about}
    </div>
  )
}

/** What assistive technology is told of a field. */
export interface Told {
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: boolean
}

type Leaf = Pick<Field, 'value' | 'onChange'> & { readonly told: Told }

function Choice({ schema, value, onChange, told }: Leaf & Pick<Field, 'schema'>) {
  const choices = schema.enum ?? (schema.const === undefined ? [true, false] : [schema.const])
  const chosen = choices.findIndex((each) => JSON.stringify(each) === JSON.stringify(value))
  return (
    <select
      {...told}
      value={String(chosen)}
      onChange={({ currentTarget }) => onChange(choices[Number(currentTarget.value)])}
    >
      <option value="-1">–</option>
      {choices.map((each, index) => (
        <option key={JSON.stringify(each)} value={String(index)}>
          {typeof each === 'string' ? each : JSON.stringify(each)}
        </option>
      ))}
    </select>
  )
}

/** What is no number stays as it was written, so that the check of the input names it. */
function NumberField({ value, onChange, told }: Leaf) {
  const [text, setText] = useState(
    typeof value === 'number' || typeof value === 'string' ? String(value) : '',
  )
  return (
    <input
      {...told}
      inputMode="decimal"
      value={text}
      onInput={({ currentTarget }) => {
        const written = currentTarget.value.trim()
        setText(currentTarget.value)
        onChange(written === '' ? undefined : Number.isFinite(Number(written)) ? Number(written) : written)
      }}
    />
  )
}

/** The items of an array, each with a key of its own, as one may be taken out. */
function Items({ schema, name, pointer, value, isRequired, faults, onChange }: Field) {
  const items = Array.isArray(value) ? value : []
  const [keys, setKeys] = useState(() => items.map((_, index) => index))
  const { items: each = {} } = schema
  const start = (): Json => (kindOf(each, `${pointer}/0`) === 'object' ? emptyOf(each) : '')
  const take = (at: number): void => {
    const left = items.filter((_, index) => index !== at)
    setKeys(keys.filter((_, index) => index !== at))
    onChange(left.length === 0 && !isRequired ? undefined : left)
  }
  return (
    <>
      {items.map((item, index) => (
        <div key={keys[index]}>
          <AnyField
            schema={each}
            name={`${name} ${index + 1}`}
            pointer={`${pointer}/${index}`}
            value={item}
            isRequired
            faults={faults}
            onChange={(next) => onChange(items.map((was, at) => (at === index ? (next ?? '') : was)))}
          />
          <button type="button" onClick={() => take(index)}>
            Take out {name} {index + 1}
          </button>
        </div>
      ))}
      <button
        type="button"
        onClick={() => {
          setKeys([...keys, Math.max(-1, ...keys) + 1])
          onChange([...items, start()])
        }}
      >
        Add to {name}
      </button>
    </>
  )
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: Json | undefined): boolean {
  return isObject(value) && Object.keys(value).length === 0
}
