import { mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import { SetupError } from '../../contract/base/errors.ts'
import type { Policy } from '../../contract/policy.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { fileDigest } from '../../kit/json/digest.ts'
import { lineOfPointer } from '../../kit/json/line-of-pointer.ts'
import { parseWrittenJson } from '../../kit/json/parse-written-json.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'
import { writeWhole } from '../../kit/write-whole.ts'
import { maxBytes, readTextFile } from '../base/read-json-file.ts'
import { checkFile, policyForm } from '../check-file.ts'
import { findPart, nameOfPlace, type PartPlace } from '../gateway-parts.ts'

/** The policy of a home as it is written, comments and all. */
export interface PolicyText {
  /** The file, or the field of `gateway.json` that stands for it. */
  readonly place: PartPlace
  /** As messages name the place. */
  readonly name: string
  /** Empty if the file is missing. */
  readonly text: string
  readonly digest: string
  /** Around the policy, if it is a field of a file. */
  readonly around: readonly [before: string, after: string]
}

/** Throws a SetupError if it cannot be read. */
export function readPolicyText(home: string): PolicyText {
  const place = findPart(home, 'policy')
  const name = place.field === undefined ? place.path : nameOfPlace(place)
  const whole = readText(place.path)
  const node =
    place.field === undefined
      ? undefined
      : findNodeAtLocation(
          parseTree(whole, [], { allowTrailingComma: true }) ?? { type: 'null', offset: 0, length: 0 },
          [place.field],
        )
  if (place.field !== undefined && node === undefined)
    throw new SetupError(
      'invalid_configuration',
      `"${place.path}" cannot be read, so that it is not known what its policy says. Mend it first.`,
    )
  const [from, to] = node === undefined ? [0, whole.length] : [node.offset, node.offset + node.length]
  const text = whole.slice(from, to)
  return { place, name, text, digest: digestOf(text), around: [whole.slice(0, from), whole.slice(to)] }
}

/** Names what a policy file says, letter by letter. */
export function digestOf(text: string): string {
  return fileDigest(text)
}

/** Empty if the file is missing. */
function readText(path: string): string {
  const read = readTextFile(path) ?? { text: '' }
  if ('text' in read) return read.text
  throw new SetupError('invalid_configuration', `"${path}" cannot be read. ${read.issue}`)
}

/** Replaces it as a whole: a reader sees all of it or what was there before. Throws a SetupError, and then nothing was changed. */
export function writePolicyText(
  { place: { path }, around: [before, after] }: PolicyText,
  text: string,
): void {
  const whole = `${before}${text}${after}`
  const bytes = Buffer.byteLength(whole)
  if (bytes > maxBytes)
    throw new SetupError(
      'unwritable_file',
      `"${path}" would have ${bytes} bytes, and at most ${maxBytes} are taken. Nothing was changed.`,
    )
  try {
    const known = statSync(path, { throwIfNoEntry: false })
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeWhole(known === undefined ? path : realpathSync(path), {
      text: whole,
      mode: (known?.mode ?? 0o600) & 0o777,
    })
  } catch (error) {
    throw new SetupError(
      'unwritable_file',
      `"${path}" cannot be written: ${describeFileError(error)}. Nothing was changed.`,
    )
  }
}

/** Something wrong in the text of a policy, and where. */
export interface PolicyFault {
  /** A JSON pointer into the policy. */
  readonly pointer: string
  /** From 1 on. */
  readonly line: number
  readonly message: string
}

/** What a text says as a policy, or all that is wrong with it. An empty text says nothing. */
export function readPolicy(
  text: string,
  checker: SchemaChecker,
): { readonly policy: Policy } | { readonly faults: readonly PolicyFault[] } {
  if (text.trim() === '') return { policy: {} }
  const read = parseWrittenJson(text)
  if ('issues' in read)
    return {
      faults: read.issues.map(({ pointer, message }) => ({
        pointer,
        line: Number(/at line (\d+)/.exec(message)?.[1] ?? lineOfPointer(text, pointer)),
        message,
      })),
    }
  const { file, issues } = checkFile(read.value, policyForm, checker)
  if (file !== undefined && issues.length === 0) return { policy: file }
  return { faults: placeFaults(issues, text) }
}

/** Issues of a policy, with the line of each. */
export function placeFaults(
  issues: readonly { readonly pointer: string; readonly message: string }[],
  text: string,
): PolicyFault[] {
  return issues.map(({ pointer, message }) => ({ pointer, line: lineOfPointer(text, pointer), message }))
}
