/** The record of the same call at the other side, if a call goes from one domain to another. */
export interface Counterpart {
  /** Who the other side is: the issuer of the token that the call came with, or the audience of the one that it went out with. */
  domain: string
  /** What the other side calls it. */
  call: string
  /** Hash of the end record that the other side keeps, if it said that. */
  record?: string
  /** Id of the key that signed the token. */
  key?: string
}
