/** Replaces secrets in text. */
export interface Redactor {
  text(value: string): string
  /** The same for every string inside a JSON value; gives the same object back where nothing was found. */
  json<T>(value: T): T
}

/**
 * Shapes of tokens that services publish for theirs. Each is linear: a fixed start and a bounded or
 * single-class run.
 */
const tokenShapes = [
  String.raw`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`,
  String.raw`\bAIza[0-9A-Za-z_-]{35}`,
  String.raw`\bgh[pousr]_[A-Za-z0-9]{36,255}`,
  String.raw`\bgithub_pat_[A-Za-z0-9_]{22,255}`,
  String.raw`\bglpat-[A-Za-z0-9_-]{20,255}`,
  String.raw`\bxox[abeoprs]-[A-Za-z0-9-]{10,255}`,
  String.raw`\bxapp-[A-Za-z0-9-]{10,255}`,
  String.raw`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}`,
  String.raw`\bsk-[A-Za-z0-9_-]{20,255}`,
  String.raw`\bnpm_[A-Za-z0-9]{36}\b`,
  String.raw`\bhf_[A-Za-z0-9]{30,255}`,
  String.raw`\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}`,
  String.raw`\bdop_v1_[a-f0-9]{64}\b`,
  String.raw`\beyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,2048}`,
  String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]{0,16384}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?`,
] as const

/** The group before the secret is kept: the word that says what follows. */
const namedShapes = [
  String.raw`\b[Bb]earer\s{1,4}[A-Za-z0-9._~+/=-]{16,4096}`,
  String.raw`\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{1,128}:[^\s/@"']{3,256}@`,
] as const

const shapes = new RegExp([...tokenShapes, ...namedShapes].join('|'), 'g')
/** One cheap look that finds nearly all texts without a token. */
const hint =
  /AKIA|ASIA|ABIA|ACCA|AIza|gh[pousr]_|github_pat_|glpat-|xox|xapp-|[rs]k_|sk-|npm_|hf_|SG\.|dop_v1_|eyJ|PRIVATE KEY|earer\s|:\/\/[^\s/@]+@/

const mark = '[redacted]'

/**
 * A redactor for the token shapes above and these exact secrets, also where they appear base64, base64url or URL encoded.
 * Secrets shorter than 6 characters are left alone: they would hit ordinary text.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const exact = exactPattern(secrets)
  const text = (value: string): string => {
    let result = exact === undefined ? value : value.replace(exact, mark)
    if (hint.test(result)) result = result.replace(shapes, replaceShape)
    return result
  }
  const json = <T>(value: T): T => mapTexts(value, text)
  return { text, json }
}

function replaceShape(found: string): string {
  const url = /^([a-z][a-z0-9+.-]*:\/\/)[^:]*:[^@]*@$/.exec(found)
  if (url !== null) return `${url[1]}${mark}@`
  return /^bearer/i.test(found) ? `${found.slice(0, 6)} ${mark}` : mark
}

function exactPattern(secrets: readonly string[]): RegExp | undefined {
  const variants = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < 6) continue
    variants.add(secret)
    // Bytes that are read one letter a byte, as a stream of them is.
    variants.add(Buffer.from(secret).toString('latin1'))
    variants.add(JSON.stringify(secret).slice(1, -1))
    variants.add(encodeURIComponent(secret))
    for (const encoded of base64Cores(secret)) variants.add(encoded)
  }
  if (variants.size === 0) return undefined
  const longestFirst = [...variants].sort((a, b) => b.length - a.length)
  return new RegExp(
    longestFirst.map((variant) => variant.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)).join('|'),
    'g',
  )
}

/** The letters of a secret's base64 form that do not depend on what surrounds it, for each of its three alignments. */
function base64Cores(secret: string): string[] {
  const cores: string[] = []
  for (let shift = 0; shift < 3; shift++) {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)])
    const end = Math.floor(bytes.length / 3) * 4
    const core = bytes.toString('base64').slice(shift === 0 ? 0 : 4, end)
    if (core.length >= 8) cores.push(core, core.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return cores
}

/** A JSON value with every string in it, names of members too, changed by `text`; the same object where nothing was changed. */
export function mapTexts<T>(value: T, text: (value: string) => string): T {
  // Strings stay strings, and objects and arrays keep their form.
  return mapValue(value, text) as T
}

function mapValue(value: unknown, text: (value: string) => string): unknown {
  if (typeof value === 'string') return text(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined
    for (const [index, item] of value.entries()) {
      const clean = mapValue(item, text)
      if (clean !== item) (copy ??= [...(value as unknown[])])[index] = clean
    }
    return copy ?? value
  }
  let copy: Record<string, unknown> | undefined
  for (const [key, item] of Object.entries(value)) {
    const clean = mapValue(item, text)
    const cleanKey = text(key)
    if (clean === item && cleanKey === key) continue
    copy ??= { ...(value as Record<string, unknown>) }
    if (cleanKey !== key) delete copy[key]
    copy[cleanKey] = clean
  }
  return copy ?? value
}
