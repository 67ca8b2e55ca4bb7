/** Any value that JSON can carry. */
export type Json = string | number | boolean | null | Json[] | JsonObject

/** A JSON object. */
export type JsonObject = { [key: string]: Json }

/** One thing that is wrong with a value, at the place its JSON pointer (RFC 6901) names. */
export interface Issue {
  /** RFC 6901 pointer into the faulty value; `''` is the whole value. */
  pointer: string
  /** Stable kind, such as `unknown_field`, `wrong_type`, `unsupported_schema`. */
  code: string
  /** What is wrong, with which value, and what to do now. */
  message: string
}
