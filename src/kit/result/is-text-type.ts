/** Whether what has this MIME type is read as text. */
export function isTextType(mimeType: string): boolean {
  return /^text\/|[/+](json|xml|yaml)\b/.test(mimeType)
}
