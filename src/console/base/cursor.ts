import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** A place in the chains of all tenants: how far each was read. */
export type Cursor = ReadonlyMap<string, number>

/** The place of nothing read yet for null; undefined for a text that says no place. */
export function readCursor(text: string | null): Cursor | undefined {
  if (text === null) return new Map()
  try {
    const read: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!isPlainObject(read)) return undefined
    const places = Object.entries(read).flatMap(([tenant, sequence]) =>
      typeof sequence === 'number' ? [[tenant, sequence] as const] : [],
    )
    return places.length === Object.keys(read).length ? new Map(places) : undefined
  } catch {
    return undefined
  }
}

export function toCursorText(places: Cursor): string {
  return Buffer.from(JSON.stringify(Object.fromEntries(places))).toString('base64url')
}

/** Behind what was listed, the newest first. */
export function writeCursor(
  listed: readonly { readonly tenant: string; readonly sequence: number }[],
  before: Cursor = new Map(),
): string {
  const places = new Map(before)
  for (const { tenant, sequence } of listed) places.set(tenant, sequence)
  return toCursorText(places)
}
