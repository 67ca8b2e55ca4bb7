/** What earlier calls left as artifacts: those of the same tenant, actor and role, whatever their session. */
export interface Artifacts {
  /** A part of one. Rejects with a `ToolFailure` where no call of this caller gave it, or it is gone. */
  read(named: NamedArtifact, part: ArtifactPart): Promise<ReadArtifact>
}

/** An artifact by the call that gave it: a digest alone opens nothing. */
export interface NamedArtifact {
  /** Handrail's id of the call. */
  call: string
  /** `sha256:` and 64 hex digits. */
  digest: string
}

/** Which bytes of an artifact are meant. */
export interface ArtifactPart {
  offset: number
  length: number
}

/** Some bytes of an artifact, and what is known of it. */
export interface ReadArtifact {
  bytes: Uint8Array
  /** Of the whole. */
  total: number
  /** `application/octet-stream` where the record of the call does not say it any more. */
  mimeType: string
  name?: string
}
