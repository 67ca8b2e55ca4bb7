/** The members of an object as JSON text, each behind a comma. Those that are undefined are left out. */
export function membersText(members: object): string {
  // perf: most have none.
  for (const _ in members) {
    const text = JSON.stringify(members)
    return text === '{}' ? '' : `,${text.slice(1, -1)}`
  }
  return ''
}
