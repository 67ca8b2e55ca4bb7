import type { FormChoice, FormField } from '../contract/base/elicitation.ts'

/** What can be chosen in a field, in whichever form it says it; undefined if anything can be written. */
export function formChoices({ type, items, ...field }: FormField): readonly FormChoice[] | undefined {
  if (type === 'array') return items?.anyOf ?? toChoices(items?.enum ?? [])
  return field.oneOf ?? (field.enum && toChoices(field.enum, field.enumNames))
}

function toChoices(values: readonly string[], titles: readonly string[] = []): FormChoice[] {
  return values.map((value, index) => ({ const: value, title: titles[index] ?? value }))
}
