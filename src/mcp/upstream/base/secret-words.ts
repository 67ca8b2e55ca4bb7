/** The short ones count as whole words only. */
const words =
  'key|token|secret|passw|passphrase|pwd|auth|credential|cookie|bearer|(?<![a-z])(?:pass|pat|sig|dsn|pin)(?![a-z])'

/** The name of something that is secret. */
export const secretName = new RegExp(words, 'i')
/** An option whose value is the next argument. */
export const secretOption = new RegExp(`^-[^=:]*(?:${words})[^=:]*$`, 'i')
/** What stands behind such an option and is an option itself, so not a value. */
export const longOption = /^--[a-z]+(?:-[a-z]+)*$/
/** A name and its value in one argument, as in options, variables and headers. The value stands behind the first group. */
export const secretPair = new RegExp(String.raw`((?:${words})[^\s=:&?/]*(?:=|:\s*)|\bbearer\s+).+`, 'is')
