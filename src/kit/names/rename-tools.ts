/** Names of two parts or more, as tools have them; a full stop after one is none of it. */
const dotted = /(?<![\w.-])[\w-]+(?:\.[\w-]+)+/g

/** A text for a model, with every name of a tool as that model calls it; a name that nothing is known of stays. */
export function renameTools(text: string, wireNameOf: (name: string) => string | undefined): string {
  // perf: most results name none.
  if (!text.includes('.')) return text
  return text.replace(dotted, (name) => wireNameOf(name) ?? name)
}
