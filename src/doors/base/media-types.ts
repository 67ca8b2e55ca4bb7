/** Bytes of base64. */
export function toBytes(data: string): Uint8Array {
  return Buffer.from(data, 'base64')
}

/** The subtype of a media type that is one of these; undefined for others. `image/jpg` counts as `image/jpeg`. */
export function subtypeOf(mimeType: string, kind: string, known: readonly string[]): string | undefined {
  const [type, subtype = ''] = (mimeType.toLowerCase().split(';')[0] ?? '').trim().split('/')
  const meant = subtype === 'jpg' ? 'jpeg' : subtype
  return type === kind && known.includes(meant) ? meant : undefined
}

/** The images that all of these APIs read. */
export const imageTypes = ['png', 'jpeg', 'gif', 'webp'] as const
