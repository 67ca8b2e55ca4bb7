/** Whether a text holds nothing but characters of Base64 (RFC 4648, section 4), line breaks and spaces. */
export function isBase64(value: unknown): value is string {
  return typeof value === 'string' && !/[^A-Za-z0-9+/=\s]/.test(value)
}
