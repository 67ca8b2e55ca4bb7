import type { ArtifactPart, NamedArtifact } from '../../contract/services/artifacts.ts'

/** The form of these URIs (RFC 6570). */
export const artifactTemplate = 'handrail://artifact/{call}/{digest}{?offset,length}'

/** The URI of an artifact, or of a part of it. */
export function toArtifactUri({ call, digest }: NamedArtifact, part?: ArtifactPart): string {
  const query = part === undefined ? '' : `?offset=${part.offset}&length=${part.length}`
  return `handrail://artifact/${call}/${digest}${query}`
}

/** What such a URI names; undefined if it is none, as where it asks for a part without bytes. */
export function readArtifactUri(uri: string): (NamedArtifact & { part?: ArtifactPart }) | undefined {
  const match =
    /^handrail:\/\/artifact\/([\w-]+)\/(sha256:[0-9a-f]{64})(?:\?offset=(\d{1,15})&length=(?!0+$)(\d{1,15}))?$/.exec(
      uri,
    )
  const [, call, digest, offset, length] = match ?? []
  if (call === undefined || digest === undefined) return undefined
  if (offset === undefined || length === undefined) return { call, digest }
  return { call, digest, part: { offset: Number(offset), length: Number(length) } }
}
