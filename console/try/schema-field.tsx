import { useEffect, useState } from 'preact/hooks'
import type { Json, JsonObject } from '../api.ts'
import { below, isObject, shapeOf, type FieldShape } from './shape.ts'

/** What all fields of a form have in common. */
export interface Form {
  /** What is wrong, by the pointer of the value. */
  readonly faults: ReadonlyMap<string, string>
  /** Told of text that is no JSON, and of its end. */
  readonly setUnread: (pointer: string, fault: string | undefined) => void
}

interface FieldProps {
  readonly schema: JsonObject
  readonly name: string
  readonly pointer: string
  readonly isRequired: boolean
  /** Undefined is left out. */
  readonly value: Json | undefined
  readonly change: (value: Json | undefined) => void
  readonly form: Form
  readonly depth?: number
}

/** A field for a value of this schema. */
export function SchemaField(props: FieldProps) {
  const { schema, depth = 0 } = props
  switch (shapeOf(schema, depth).kind) {
    case 'object':
      return <ObjectField {...props} />
    case 'list':
      return <ListField {...props} />
    default:
      return <PlainField {...props} />
  }
}

/** The fields of an object, one below the other. */
export function ObjectFields({ value, change, ...props }: FieldProps & { fields: readonly FieldShape[] }) {
  const { fields, form, pointer, depth = 0 } = props
  const own = isObject(value) ? value : {}
  return (
    <>
      {fields.map(({ name, schema, isRequired }) => (
        <SchemaField
          key={name}
          schema={schema}
          name={name}
          pointer={below(pointer, name)}
          isRequired={isRequired}
          value={own[name]}
          change={(next) => {
            const { [name]: _, ...others } = own
            const all = next === undefined ? others : { ...others, [name]: next }
            change(Object.keys(all).length === 0 && !props.isRequired ? undefined : all)
          }}
          form={form}
          depth={depth + 1}
        />
      ))}
    </>
  )
}

function ObjectField(props: FieldProps) {
  const shape = shapeOf(props.schema, props.depth)
  return (
    <fieldset>
      <legend>
        <Name {...props} />
      </legend>
      <About {...props} />
      {shape.kind === 'object' && <ObjectFields {...props} fields={shape.fields} />}
    </fieldset>
  )
}

function ListField(props: FieldProps) {
  const { schema, name, pointer, value, change, form, depth = 0 } = props
  const shape = shapeOf(schema, depth)
  const items = Array.isArray(value) ? value : []
  // What is typed in a field goes with it: after a removal, all stand anew.
  const [removals, setRemovals] = useState(0)
  if (shape.kind !== 'list') return null
  const put = (next: readonly Json[]): void =>
    change(next.length === 0 && !props.isRequired ? undefined : [...next])
  return (
    <fieldset>
      <legend>
        <Name {...props} />
      </legend>
      <About {...props} />
      {items.map((item, index) => (
        <div class="item" key={`${removals} ${index}`}>
          <SchemaField
            schema={shape.items}
            name={`${name} ${index + 1}`}
            pointer={below(pointer, index)}
            isRequired
            value={item}
            change={(next) => put(items.with(index, next ?? ''))}
            form={form}
            depth={depth + 1}
          />
          <button
            type="button"
            onClick={() => {
              setRemovals(removals + 1)
              put(items.toSpliced(index, 1))
            }}
          >
            Remove {name} {index + 1}
          </button>
        </div>
      ))}
      <button type="button" onClick={() => put([...items, emptyOf(shape.items)])}>
        Add to {name}
      </button>
    </fieldset>
  )
}

function emptyOf(schema: JsonObject): Json {
  const shape = shapeOf(schema)
  if (shape.kind === 'object') return {}
  if (shape.kind === 'list') return []
  if (shape.kind === 'boolean') return false
  return shape.kind === 'choice' ? (shape.values[0] ?? null) : ''
}

function PlainField(props: FieldProps) {
  const { pointer, form } = props
  const id = `field${pointer.replaceAll(/\W/g, '-')}`
  const isFaulty = form.faults.has(pointer)
  const marks = { id, 'aria-invalid': isFaulty, 'aria-describedby': `${id}-about` }
  return (
    <div class="field">
      <label for={id}>
        <Name {...props} />
      </label>
      <Control {...props} marks={marks} />
      <div id={`${id}-about`}>
        <About {...props} />
      </div>
    </div>
  )
}

interface ControlProps extends FieldProps {
  readonly marks: {
    readonly id: string
    readonly 'aria-invalid': boolean
    readonly 'aria-describedby': string
  }
}

function Control({ schema, depth, pointer, isRequired, value, change, form, marks }: ControlProps) {
  const shape = shapeOf(schema, depth)
  if (shape.kind === 'text')
    return (
      <textarea
        {...marks}
        rows={1}
        value={typeof value === 'string' ? value : ''}
        onInput={({ currentTarget: { value: text } }) => change(text === '' ? undefined : text)}
      />
    )
  if (shape.kind === 'number') return <NumberControl {...{ marks, value, change }} />
  if (shape.kind === 'raw') return <RawControl {...{ marks, pointer, value, change, form }} />
  const values = shape.kind === 'choice' ? shape.values : [true, false]
  return (
    <select
      {...marks}
      value={values.findIndex((each) => JSON.stringify(each) === JSON.stringify(value))}
      onChange={({ currentTarget }) => change(values[Number(currentTarget.value)])}
    >
      <option value={-1}>{isRequired ? 'choose' : 'left out'}</option>
      {values.map((each, index) => (
        <option key={JSON.stringify(each)} value={index}>
          {typeof each === 'string' ? each : JSON.stringify(each)}
        </option>
      ))}
    </select>
  )
}

/** What is no number goes as it is written, so that the tool's own schema says what is wrong. */
function NumberControl({ marks, value, change }: Pick<ControlProps, 'marks' | 'value' | 'change'>) {
  const [text, setText] = useState(
    typeof value === 'string' || typeof value === 'number' ? String(value) : '',
  )
  return (
    <input
      {...marks}
      inputMode="decimal"
      value={text}
      onInput={({ currentTarget: { value: typed } }) => {
        setText(typed)
        change(toNumber(typed.trim()))
      }}
    />
  )
}

function toNumber(text: string): Json | undefined {
  if (text === '') return undefined
  const read = Number(text)
  return Number.isFinite(read) ? read : text
}

type RawProps = Pick<ControlProps, 'marks' | 'pointer' | 'value' | 'change' | 'form'>

/** JSON as text. */
export function RawControl({ marks, pointer, value, change, form }: RawProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  useEffect(() => () => form.setUnread(pointer, undefined), [])
  return (
    <textarea
      {...marks}
      class="raw"
      rows={4}
      spellcheck={false}
      value={text}
      onInput={({ currentTarget: { value: typed } }) => {
        setText(typed)
        const read = readJson(typed)
        form.setUnread(pointer, read.fault)
        if (read.fault === undefined) change(read.value)
      }}
    />
  )
}

function readJson(text: string): { readonly value?: Json; readonly fault?: string } {
  if (text.trim() === '') return {}
  try {
    const value: Json = JSON.parse(text)
    return { value }
  } catch (error) {
    return { fault: `This is no JSON: ${error instanceof Error ? error.message : 'it cannot be read'}` }
  }
}

function Name({ name, isRequired }: FieldProps) {
  return (
    <>
      {name}
      {isRequired && <small> required</small>}
    </>
  )
}

/** What the schema says of a field, and what is wrong with its value. */
function About({ schema, pointer, form }: FieldProps) {
  const { description, default: usual } = schema
  const fault = form.faults.get(pointer)
  return (
    <>
      {fault !== undefined && (
        <div class="fault" role="alert">
          {fault}
        </div>
      )}
      <small>
        {typeof description === 'string' && description}
        {usual !== undefined && ` Default: ${JSON.stringify(usual)}.`}
      </small>
    </>
  )
}
