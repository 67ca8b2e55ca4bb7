/** A package could not be fetched. */
export class FetchFailed extends Error {
  /** What the operator could do. */
  readonly remedy: string | undefined

  constructor(message: string, remedy?: string) {
    super(message)
    this.remedy = remedy
  }
}
