/** A language server that cannot answer: the question goes to the search then, and the message says why. */
export class ServerTrouble extends Error {
  override readonly name = 'ServerTrouble'
}
