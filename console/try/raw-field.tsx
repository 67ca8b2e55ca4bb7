import { useState } from 'preact/hooks'
import { messageOf } from '../../src/kit/text/message-of.ts'
import type { Json } from '../api.ts'
import type { Told } from './schema-form.tsx'

/** A value as JSON. What is none cannot be sent: the field says so. */
export function RawField({
  value,
  onChange,
  told = {},
  rows = 2,
}: {
  value: Json | undefined
  onChange: (value: Json | undefined) => void
  told?: Told
  rows?: number
}) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  return (
    <textarea
      {...told}
      rows={rows}
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => {
        setText(currentTarget.value)
        try {
          onChange(currentTarget.value.trim() === '' ? undefined : JSON.parse(currentTarget.value))
          currentTarget.setCustomValidity('')
        } catch (error) {
          currentTarget.setCustomValidity(`This is no JSON: ${messageOf(error)}`)
        }
      }}
    />
  )
}
