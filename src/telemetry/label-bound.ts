/** What stands for all values of a label after the first ones. */
export const otherLabel = 'other'

/** Lets the first values of a label through and puts the rest together, so that no caller can make series without end. */
export function createLabelBound(maxValues: number): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= maxValues) return otherLabel
    known.add(value)
    return value
  }
}
