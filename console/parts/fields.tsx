import type { Json } from '../api.ts'

/** An object field by field, as text. */
export function Fields({ value }: { value: { readonly [name: string]: Json } }) {
  const fields = Object.entries(value)
  if (fields.length === 0) return <p class="empty">No fields.</p>
  return (
    <dl class="fields">
      {fields.map(([name, each]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Field value={each} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Field({ value }: { value: Json }) {
  if (typeof value === 'string') return <span class="as-written">{value}</span>
  if (typeof value !== 'object' || value === null) return <code>{String(value)}</code>
  if (!Array.isArray(value)) return <Fields value={value} />
  return (
    <ol>
      {value.map((each, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <li key={index}>
          <Field value={each} />
        </li>
      ))}
    </ol>
  )
}
