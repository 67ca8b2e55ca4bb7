import { formsOfSecret } from './secret-forms.ts'

/** Replaces secrets in text. */
export interface Redactor {
  text(value: string): string
  /** The same for every string inside a JSON value; gives the same object back where nothing was found. */
  json<T>(value: T): T
  /** The end of the last line of the text behind which nothing of a secret can follow; 0 where there is none. */
  lineEnd(text: string): number
  /** The last place up to `end` that lies in no secret, where at least `longestSecret` letters follow it. */
  cut(text: string, end: number): number
  /** No secret that is found has more letters. */
  readonly longestSecret: number
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
  String.raw`\b(?:ya29\.|hvs\.|pypi-AgE|whsec_|dckr_pat_|shpat_|glrt-)[A-Za-z0-9._-]{16,1024}`,
  String.raw`\bhooks\.slack\.com\/services\/[A-Za-z0-9/]{20,100}`,
  String.raw`\beyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,2048}`,
  String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\]{0,16384}(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?`,
] as const

/** The group before the secret is kept: the word that says what follows. */
const namedShapes = [
  String.raw`\b[Bb]earer\s{1,4}[A-Za-z0-9._~+/=-]{16,4096}`,
  String.raw`\b[Aa]uthorization["']?\s{0,2}[:=]\s{0,2}["']?[Bb]asic\s{1,4}[A-Za-z0-9+/]{6,1024}={0,2}`,
  String.raw`\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,128}:[^\s/@"']{3,256}@`,
] as const

const shapes = new RegExp([...tokenShapes, ...namedShapes].join('|'), 'g')
/** One cheap look that finds nearly all texts without a token. */
const hint =
  /AKIA|ASIA|ABIA|ACCA|AIza|gh[pousr]_|github_pat_|glpat-|xox|xapp-|[rs]k_|sk-|npm_|hf_|SG\.|dop_v1_|ya29|hvs\.|pypi-|whsec_|dckr_|shpat_|glrt-|hooks\.slack|eyJ|PRIVATE KEY|earer\s|uthorization|:\/\/[^\s/@]+@/

/** No token is longer. */
const longestToken = 17 * 1024

/** What a token begins with that goes on in the next line. */
const openToken =
  /(?:[Bb]earer\s{0,3}|-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\]{0,16384})\n$/

const mark = '[redacted]'

/**
 * A redactor for the token shapes above and these exact secrets, in every form in which they travel.
 * Secrets shorter than 6 characters are left alone: they would hit ordinary text.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const variants = variantsOf(secrets)
  const exact = exactPattern(variants)
  const openings = variants.flatMap(openingsOf)
  const longestSecret = variants.reduce((most, { length }) => Math.max(most, length), longestToken)
  const text = (value: string): string => {
    let result = exact === undefined ? value : value.replace(exact, mark)
    if (hint.test(result)) result = result.replace(shapes, replaceShape)
    return result
  }
  const json = <T>(value: T): T => mapTexts(value, text)
  const cut = (value: string, end: number): number => {
    let at = end
    // A secret may begin inside of another one.
    for (let last = -1; last !== at;) {
      last = at
      if (exact !== undefined) at = startOfFound(value, at, exact)
      if (hint.test(value)) at = startOfFound(value, at, shapes)
    }
    return at
  }
  const lineEnd = (value: string): number => {
    const end = value.lastIndexOf('\n') + 1
    const open = openLength(value.slice(Math.max(0, end - longestSecret), end), openings)
    return open === 0 ? end : cut(value, end - open)
  }
  return { text, json, cut, lineEnd, longestSecret }
}

/** How many letters at the end of these lines may be the beginning of a secret that goes on in the next one. */
function openLength(lines: string, openings: readonly string[]): number {
  const token = /earer|PRIVATE KEY/.test(lines) ? openToken.exec(lines) : null
  const found = openings.filter((opening) => lines.endsWith(opening))
  return Math.max(token?.[0].length ?? 0, ...found.map(({ length }) => length))
}

/** Where what the pattern finds across this place begins; the place itself where nothing lies across it. */
function startOfFound(text: string, at: number, pattern: RegExp): number {
  let before = 0
  pattern.lastIndex = 0
  // Looks without an object for each find: there may be thousands.
  while (pattern.test(text) && pattern.lastIndex <= at) before = pattern.lastIndex
  if (pattern.lastIndex === 0) return at
  pattern.lastIndex = before
  const start = pattern.exec(text)?.index ?? at
  pattern.lastIndex = 0
  return Math.min(at, start)
}

function replaceShape(found: string): string {
  const url = /^([a-z][a-z0-9+.-]*:\/\/)[^:]*:[^@]*@$/.exec(found)
  if (url !== null) return `${url[1]}${mark}@`
  return /^bearer/i.test(found) ? `${found.slice(0, 6)} ${mark}` : mark
}

/** The forms in which the secrets are looked for, the longest first. */
function variantsOf(secrets: readonly string[]): string[] {
  const forms = secrets.filter(({ length }) => length >= 6).flatMap(formsOfSecret)
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

function exactPattern(variants: readonly string[]): RegExp | undefined {
  if (variants.length === 0) return undefined
  const literals = variants.map((variant) => variant.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`))
  return new RegExp(literals.join('|'), 'g')
}

/** What of it stands before each of its line ends but the last letter. */
function openingsOf(variant: string): string[] {
  return [...variant.matchAll(/\n(?!$)/g)].map(({ index }) => variant.slice(0, index + 1))
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
