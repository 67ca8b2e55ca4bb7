/** A value that is JSON already, in parts: large, made once, and sent to many. Wherever else it goes it is the value itself. */
export class ReadyJson {
  readonly parts: readonly Buffer[]

  constructor(parts: readonly Buffer[]) {
    this.parts = parts
  }

  toJSON(): unknown {
    return JSON.parse(Buffer.concat(this.parts).toString())
  }
}
