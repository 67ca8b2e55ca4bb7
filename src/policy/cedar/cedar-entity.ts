/** Names an entity: `{ type: 'Handrail::Actor', id: 'acme/ada' }`. */
export interface CedarUid {
  readonly type: string
  readonly id: string
}

/** A value of Cedar as JSON: whole numbers only, entities as `{ __entity: uid }`. */
export type CedarValue =
  | string
  | number
  | boolean
  | readonly CedarValue[]
  | { readonly [name: string]: CedarValue }
  | { readonly __entity: CedarUid }

/** Something that policies speak of. */
export interface CedarEntity {
  readonly uid: CedarUid
  readonly attrs?: { readonly [name: string]: CedarValue }
  readonly parents?: readonly CedarUid[]
  readonly tags?: { readonly [name: string]: CedarValue }
}

/** The same text for the same entity, and no other. */
export function uidKey({ type, id }: CedarUid): string {
  return `${type}::${JSON.stringify(id)}`
}
