const form = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** The names of the secrets that a text stands on: each `${NAME}` in it, once. */
export function secretNames(text: string): string[] {
  return [...new Set([...text.matchAll(form)].map(([, name = '']) => name))]
}

/** The text with the value of each secret in the place of its `${NAME}`. What stands in a value is not looked at. */
export function fillSecretNames(text: string, valueOf: (name: string) => string): string {
  return text.replaceAll(form, (_, name: string) => valueOf(name))
}
