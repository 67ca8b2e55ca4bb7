import { isObject } from '../json/is-object.ts'
import { createQuickLook, type QuickLook } from '../match/quick-look.ts'
import { base64Cores, formsOfSecret } from './secret-forms.ts'
import { longestToken, namedPattern, openToken, tokenPattern, tokenSeeds } from './token-shapes.ts'
import { longestWrapped, openWrapped, wrappedPattern, wrappedSeeds } from './wrapped-base64.ts'

/** Replaces secrets in text. */
export interface Redactor {
  text(value: string): string
  /** The same for every string inside a JSON value; returns the same object if nothing was found. */
  json<T>(value: T): T
  /** Whether a value with this JSON text may hold a secret. Where it says no, `json` changes nothing. */
  mayHold(json: string): boolean
  /** The same for bytes that are no text, in Base64 or one letter a byte, in which only exact secrets count: a token has no shape there. */
  binary(letters: string): string
  /** The end of the last line of the text behind which nothing of a secret can follow; 0 where there is none. */
  lineEnd(text: string): number
  /** The last place up to `end` that lies in no secret, where at least `longestSecret` letters follow it. */
  cut(text: string, end: number): number
  /** No secret that is found has more letters. */
  readonly longestSecret: number
}

const mark = '[redacted]'

/**
 * A redactor for tokens by their shapes and for these exact secrets, in every form in which they travel. Secrets shorter than 6
 * characters are left alone: they would hit ordinary text. One quick look finds nearly all texts that hold nothing.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const variants = variantsOf(secrets)
  const cores = wrappableCores(secrets)
  const exact = exactPattern(variants, cores)
  const openings = variants.flatMap(openingsOf)
  const longestSecret = [...variants.map(({ length }) => length), ...cores.map(longestWrapped)].reduce(
    (most, length) => Math.max(most, length),
    longestToken,
  )
  const seeds = [
    ...tokenSeeds,
    ...variants.map((variant) => variant.slice(0, 8)),
    ...cores.flatMap(wrappedSeeds),
  ]
  const mayHold = createQuickLook(seeds)
  let mayHoldInJson: QuickLook | undefined
  const patterns = exact === undefined ? [tokenPattern, namedPattern] : [exact, tokenPattern, namedPattern]
  const text = (value: string): string => {
    if (!mayHold(value)) return value
    const withoutExact = exact === undefined ? value : value.replace(exact, mark)
    return withoutExact.replace(tokenPattern, mark).replace(namedPattern, replaceNamed)
  }
  const json = <T>(value: T): T => mapTexts(value, text)
  const binary = (letters: string): string =>
    exact !== undefined && mayHold(letters) ? letters.replace(exact, mark) : letters
  const cut = (value: string, end: number): number => {
    if (!mayHold(value)) return end
    let at = end
    // A secret may begin inside of another one.
    for (let last = -1; last !== at;) {
      last = at
      for (const pattern of patterns) at = startOfFound(value, at, pattern)
    }
    return at
  }
  const lineEnd = (value: string): number => {
    const end = value.lastIndexOf('\n') + 1
    const lines = value.slice(Math.max(0, end - longestSecret), end)
    const open = Math.max(openLength(lines, openings), openWrapped(lines, cores))
    return open === 0 ? end : cut(value, end - open)
  }
  return {
    text,
    json,
    mayHold: (value) => (mayHoldInJson ??= createJsonLook(seeds))(value),
    binary,
    cut,
    lineEnd,
    longestSecret,
  }
}

/** A look for these texts in strings of JSON, each letter of which is written by itself, but for the two halves of one. */
function createJsonLook(texts: readonly string[]): QuickLook {
  const whole = texts.map((text) => text.replace(/[\uD800-\uDBFF]$/, ''))
  if (!whole.every((text) => text.isWellFormed())) return () => true
  return createQuickLook(whole.map((text) => JSON.stringify(text).slice(1, -1)))
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

/** Keeps the word that says what was there. */
function replaceNamed(_found: string, ...groups: readonly unknown[]): string {
  const kept = groups.find((group) => typeof group === 'string') ?? ''
  return kept.endsWith('earer') ? `${kept} ${mark}` : kept + mark
}

/** The forms in which the secrets are looked for, the longest first. */
function variantsOf(secrets: readonly string[]): string[] {
  const forms = secrets.filter(({ length }) => length >= 6).flatMap(formsOfSecret)
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

/** Runs of Base64 of these secrets, which mail and keys wrap over lines. */
function wrappableCores(secrets: readonly string[]): string[] {
  const cores = secrets
    .filter(({ length }) => length >= 6)
    .flatMap((secret) => base64Cores(Buffer.from(secret)))
  return [...new Set(cores)].filter((core) => !/[-_]/.test(core))
}

function exactPattern(variants: readonly string[], cores: readonly string[]): RegExp | undefined {
  if (variants.length === 0) return undefined
  const literals = variants.map((variant) => variant.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`))
  return new RegExp([...cores.map(wrappedPattern), ...literals].join('|'), 'g')
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
  if (!isObject(value)) return value
  return Array.isArray(value) ? mapItems(value, text) : mapMembers(value, text)
}

function mapItems(items: readonly unknown[], text: (value: string) => string): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < items.length; index++) {
    const clean = mapValue(items[index], text)
    if (clean !== items[index]) (copy ??= [...items])[index] = clean
  }
  return copy ?? items
}

function mapMembers(members: Record<string, unknown>, text: (value: string) => string): unknown {
  let copy: Record<string, unknown> | undefined
  for (const key in members) {
    const clean = mapValue(members[key], text)
    const cleanKey = text(key)
    if (clean === members[key] && cleanKey === key) continue
    copy ??= { ...members }
    if (cleanKey !== key) delete copy[key]
    copy[cleanKey] = clean
  }
  return copy ?? members
}
