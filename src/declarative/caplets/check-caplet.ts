import type { Issue, Json } from '../../contract/base/json.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { parseWrittenJson } from '../../kit/json/parse-written-json.ts'
import { parseToolFile } from '../parse-tool-file.ts'
import type { ToolFile } from '../tool-file.ts'
import { capletSourceSchema, signedCapletSchema } from './caplet-schema.ts'
import { isSignedByPublisher } from './caplet-keys.ts'
import type { CapletFile, CapletSource, SignedCaplet } from './caplet.ts'

/** The file that says what a caplet is, in the folder of its author and in its package. */
export const capletFileName = 'caplet.json'
/** All files of a package together, unpacked. */
export const maxCapletBytes = 64 * 1024 * 1024

type Checked<T> = { caplet: T; file: ToolFile } | { issues: readonly Issue[] }

/** What an author wrote, or all that is wrong with it. */
export function checkCapletSource(text: string, checker: SchemaChecker): Checked<CapletSource> {
  const found = readForm<CapletSource>(text, capletSourceSchema, checker)
  if ('issues' in found) return found
  return withTool(found.value, { source: found.value, at: '', checker })
}

/** What a package says of itself, or all that is wrong with it. Who signed it is judged elsewhere; that they did is judged here. */
export function checkSignedCaplet(text: string, checker: SchemaChecker): Checked<SignedCaplet> {
  const found = readForm<SignedCaplet>(text, signedCapletSchema, checker)
  if ('issues' in found) return found
  const { manifest, signature } = found.value
  const isSigned = manifest.publisher !== undefined || signature !== undefined
  if (isSigned && !isSignedByPublisher(found.value))
    return {
      issues: [
        issue('/signature', 'It is not the signature of the publisher over this manifest: it was altered.'),
      ],
    }
  const wrong = checkFiles(manifest.files)
  if (wrong.length > 0) return { issues: wrong }
  return withTool(found.value, { source: manifest, at: '/manifest', checker })
}

function readForm<T>(
  text: string,
  schema: typeof capletSourceSchema,
  checker: SchemaChecker,
): { value: T } | { issues: readonly Issue[] } {
  const parsed = parseWrittenJson(text)
  if ('issues' in parsed) return parsed
  const checked = checker.check(schema, parsed.value)
  if (!checked.ok) return checked
  const value: unknown = checked.value
  // The schema has just been held against the value.
  return { value: value as T }
}

function withTool<T>(
  caplet: T,
  { source, at, checker }: { source: CapletSource; at: string; checker: SchemaChecker },
): Checked<T> {
  const parsed = parseToolFile(JSON.stringify(source.tool), checker)
  const issues = 'issues' in parsed ? parsed.issues : checkBounds(source, parsed.file)
  const placed = issues.map((each) => ({ ...each, pointer: at + each.pointer }))
  if ('issues' in parsed || issues.length > 0)
    return {
      issues:
        'issues' in parsed
          ? placed.map((each) => ({ ...each, pointer: `${at}/tool${each.pointer.slice(at.length)}` }))
          : placed,
    }
  return { caplet, file: parsed.file }
}

function checkBounds({ write, tests }: CapletSource, file: ToolFile): Issue[] {
  const issues: Issue[] = []
  if (file.permission === 'readonly' && write.length > 0)
    issues.push(
      issue(
        '/write',
        'A tool that is readonly writes nothing. Declare the permission "write", or leave this empty.',
      ),
    )
  if (file.env_allowlist.length > 0)
    issues.push(
      issue('/tool/env_allowlist', 'A caplet gets no variable of the environment. Name a secret instead.'),
    )
  if (file.command.startsWith('/'))
    issues.push(issue('/tool/command', 'A package names a program by its name, or by a path from "./" on.'))
  const names = tests.map(({ name }) => name)
  if (new Set(names).size < names.length) issues.push(issue('/tests', 'Two tests have one name. Rename one.'))
  for (const [index, { files = {} }] of tests.entries())
    for (const path of Object.keys(files))
      if (!isFilePath(path))
        issues.push(issue(`/tests/${index}/files`, `"${path}" is not a path from the project on.`))
  return issues
}

function checkFiles(files: readonly CapletFile[]): Issue[] {
  const at = '/manifest/files'
  const folded = new Set<string>()
  const issues: Issue[] = []
  for (const { path } of files) {
    const name = path.toLowerCase()
    if (!isFilePath(path)) issues.push(issue(at, `"${path}" is not a path that a package may have.`))
    if (folded.has(name) || name === capletFileName)
      issues.push(issue(at, `"${path}" stands twice, or differs from another one in case alone.`))
    folded.add(name)
  }
  for (const path of folded)
    if (parentsOf(path).some((folder) => folded.has(folder)))
      issues.push(issue(at, `"${path}" lies in what is a file.`))
  if (files.reduce((sum, { size }) => sum + size, 0) > maxCapletBytes)
    issues.push(issue(at, `They have more than ${maxCapletBytes} bytes together.`))
  return issues
}

/** Whether a package may have a file of this path: plain names, none of which begins with a dot or ends in one. */
export function isFilePath(path: string): boolean {
  return (
    path.length <= 200 &&
    /^(?:[A-Za-z0-9_@+-](?:[A-Za-z0-9._@+-]*[A-Za-z0-9_@+-])?(?:\/|$)){1,16}$/.test(path) &&
    !path.endsWith('/')
  )
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

function issue(pointer: string, message: string): Issue & { value?: Json } {
  return { pointer, code: 'invalid_caplet', message }
}
