import { findFormat } from '../../kit/find-format.ts'

/** What the body of an answer is. */
export type WebContent =
  | { readonly kind: 'html' | 'text'; readonly mimeType: string; readonly text: string }
  | { readonly kind: 'binary'; readonly mimeType: string }

const textTypes =
  /^text\/|^application\/(?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|sql|graphql|x-ndjson|x-sh|x-httpd-php)$|\+(?:json|xml|yaml)$/

/** Text by the type that the server names, and by its bytes if it names none or if they begin as a well-known format does. */
export function readContent(bytes: Uint8Array, contentType: string | undefined): WebContent {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';')
  // It is shown, and a stranger wrote it.
  const named = /^[\w.+-]{1,40}\/[\w.+-]{1,60}$/.test(type.trim()) ? type.trim() : ''
  const format = findFormat(bytes)
  if (format !== undefined) return { kind: 'binary', mimeType: format }
  const isText = textTypes.test(named) || ((named === '' || named === unknownType) && looksLikeText(bytes))
  if (!isText) return { kind: 'binary', mimeType: named === '' ? unknownType : named }
  const text = decode(bytes, charsetOf(parameters) ?? charsetInside(bytes))
  const isHtml =
    /^(?:text\/html|application\/xhtml\+xml)$/.test(named) || (named === '' && startsAsHtml(text))
  return { kind: isHtml ? 'html' : 'text', mimeType: named === '' ? 'text/plain' : named, text }
}

const unknownType = 'application/octet-stream'

function looksLikeText(bytes: Uint8Array): boolean {
  return bytes.length > 0 && !bytes.subarray(0, 4_096).includes(0)
}

function startsAsHtml(text: string): boolean {
  return /^\s*<(?:!doctype html|html|head|body)\b/i.test(text.slice(0, 1_000))
}

function charsetOf(parameters: readonly string[]): string | undefined {
  for (const parameter of parameters) {
    const [, charset] = /^\s*charset\s*=\s*"?([\w.:-]+)/.exec(parameter) ?? []
    if (charset !== undefined) return charset
  }
  return undefined
}

/** HTML and XML may say it themselves, in their first 1,024 bytes. */
function charsetInside(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1')
  return /<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1]
}

/** A byte order mark beats what is said; an unknown name counts as UTF-8. */
function decode(bytes: Uint8Array, charset: string | undefined): string {
  return decoderFor(markOf(bytes) ?? charset ?? 'utf-8').decode(bytes)
}

function markOf([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

function decoderFor(label: string) {
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder()
  }
}
